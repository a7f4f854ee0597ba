// Networks as graphs of their forward pass: rows of the table in networks/networks.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/graph.h"

namespace voxswap {

// The `network` part of an experiment.
struct NetworkOptions {
  std::string name = "isensee2017";  // isensee2017 | unet3d | resnet3d
  std::int64_t base_filters = 16;
  std::int64_t depth = 5;       // levels; resnet3d: residual blocks
  double dropout = 0.3;         // isensee2017
  double slope = 0.3;           // isensee2017, resnet3d: of the leaky ReLU
  std::string heads = "plain";  // isensee2017: plain | normalized (conv, norm, leaky ReLU: IBM's variant)
  std::string upsampling = "transposed";  // unet3d: transposed (convolutions) | nearest
};

struct ForwardGraph {
  Graph graph;
  ValueId input = none;             // N,D,H,W,C, of the activation type; zeros behind the image's channels
  ValueId logits = none;            // N,D,H,W,outputs, full precision; sigmoid of it is the prediction
  std::vector<ValueId> parameters;  // in the order of the checkpoint; named as in the PyTorch module, e.g.
                                    // "encoder.0.input.conv.weight"
  std::vector<ValueId> trained;     // those that some node reads: not the biases in front of a norm
};

// `input` is the images' shape; `voxel_alignment` the bytes of which their voxels are to take a multiple
// (Backend::voxel_alignment). `training` adds dropout. Throws Exit::usage for an unknown name (with the
// nearest) or options out of range.
ForwardGraph build_network(const NetworkOptions& options, const Shape& input, std::int64_t outputs,
                           ElementType activations, bool training, std::int64_t voxel_alignment = 1);

std::vector<std::string> network_names();
// Sides must be multiples of this: 2^(depth-1) for a U-Net. REQUIRES: a known name, a depth that it takes.
std::int64_t side_multiple(const NetworkOptions& options);
std::pair<std::int64_t, std::int64_t> network_depths(const std::string& name);  // least and most
std::int64_t parameter_count(const Graph& graph);

// Glorot-uniform weights, zero biases, gamma 1, beta 0; a pure function of (seed, position among the
// parameters).
std::vector<float> initial_value(const Graph& graph, ValueId parameter, std::size_t position,
                                 std::uint64_t seed);

}  // namespace voxswap
