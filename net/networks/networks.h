// Networks as graphs of their forward pass: rows of one table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/networks/network.h"

namespace voxswap::net {

// `volumes` is the shape of what is read, N,D,H,W,C. An image, N,1,H,W,C, lies in memory as a volume
// N,H,1,W,C does, and in the graph it is one: its rows are the planes, along which volumes are cut
// (net/steps/pieces.h). `voxel_alignment`: the bytes of which its voxels are to take a multiple
// where convolutions read them (Backend::voxel_alignment). `training` adds dropout. Throws Exit::usage for an
// unknown name (with the nearest) or options out of range.
ForwardGraph build_network(const NetworkOptions& options, const Shape& volumes, std::int64_t outputs,
                           ElementType activations, bool training, std::int64_t voxel_alignment = 1);

std::vector<std::string> network_names();
const char* network_meaning(const std::string& name);  // in a few words
// Sides along x, y, z must be multiples of these: 2^(depth-1) for a U-Net whose levels halve all of them.
// REQUIRES: a known name, a depth that it takes.
Along side_multiples(const NetworkOptions& options);
// "16", or "16 along x, 16 along y, 4 along z".
std::string side_multiples_text(const NetworkOptions& options);
std::pair<std::int64_t, std::int64_t> network_depths(const std::string& name);  // least and most
bool has_levels(const std::string& name);    // with kernels and strides of their own (net/networks/levels.h)
bool takes_images(const std::string& name);  // volumes of one plane alone
bool classifies_images(const std::string& name);  // logits of the image, not of its voxels
// Its norms are those of all samples of a batch together, which a training step then takes at once.
bool takes_batch_at_once(const std::string& name);
std::int64_t parameter_count(const Graph& graph);

// Glorot-uniform weights, zero biases, gamma 1, beta 0, running means 0 and variances 1; a pure function of
// (seed, position among the parameters).
std::vector<float> initial_value(const Graph& graph, ValueId parameter, std::size_t position,
                                 std::uint64_t seed);

// build_network() with something to be done between the parameters and the rest. It gets those that some node
// will read.
ForwardGraph build_network(
    const NetworkOptions& options, const Shape& volumes, std::int64_t outputs, ElementType activations,
    bool training, std::int64_t voxel_alignment,
    const std::function<void(Graph&, const std::vector<ValueId>& trained)>& after_parameters);

}  // namespace voxswap::net
