// The table of networks. Each is built as the graph of its forward pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/networks/network.h"

namespace voxswap::net {

// Builds a network. `volumes`: shape of the input, N,D,H,W,C. A 2D image, N,1,H,W,C, has the same memory
// layout as a volume N,H,1,W,C and is that in the graph, so it can be split into slabs along its rows
// (net/steps/slabs.h). `voxel_alignment`: convolutions read voxels padded to a multiple of this many bytes
// (Backend::voxel_alignment). `training` adds dropout. Throws Exit::usage for an unknown name (suggesting the
// nearest) or options out of range.
ForwardGraph build_network(const NetworkOptions& options, const Shape& volumes, std::int64_t outputs,
                           ElementType activations, bool training, std::int64_t voxel_alignment = 1);

std::vector<std::string> network_names();
const char* network_meaning(const std::string& name);  // in a few words
// Sides along x, y, z must be multiples of these, 2^(depth-1) for a U-Net whose levels halve all sides.
// REQUIRES: a known name and a valid depth.
Along side_multiples(const NetworkOptions& options);
// "16", or "16 along x, 16 along y, 4 along z".
std::string side_multiples_text(const NetworkOptions& options);
std::pair<std::int64_t, std::int64_t> network_depths(const std::string& name);  // smallest and largest
bool has_levels(const std::string& name);  // has kernels and strides per level (net/networks/builder.h)
// The channels of a level, the sides of its kernels, its downsampling factor from the level above, and the
// number of its convolutions (plain_unet) or residual blocks (resenc_unet) in the encoder. REQUIRES: a
// network with levels.
std::int64_t level_channels(const NetworkOptions& options, std::int64_t level);
Along level_kernel(const NetworkOptions& options, std::int64_t level);
Along level_stride(const NetworkOptions& options, std::int64_t level);
std::int64_t level_blocks(const NetworkOptions& options, std::int64_t level);
bool takes_images(const std::string& name);       // 2D: only volumes of one plane
bool classifies_images(const std::string& name);  // logits of the image, not of its voxels
// Has batch norm over the whole batch, so a training step takes the batch at once.
bool takes_batch_at_once(const std::string& name);
std::int64_t parameter_count(const Graph& graph);

// Initial value: Glorot-uniform weights, zero biases, gamma 1, beta 0, running means 0 and variances 1.
// Depends only on (seed, position among the parameters).
std::vector<float> initial_value(const Graph& graph, ValueId parameter, std::size_t position,
                                 std::uint64_t seed);

// build_network() with a callback between the parameters and the other nodes. It receives the trained
// parameters.
ForwardGraph build_network(
    const NetworkOptions& options, const Shape& volumes, std::int64_t outputs, ElementType activations,
    bool training, std::int64_t voxel_alignment,
    const std::function<void(Graph&, const std::vector<ValueId>& trained)>& after_parameters);

}  // namespace voxswap::net
