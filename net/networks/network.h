// Options of a network, the graph of its forward pass, and its frozen parameters.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "net/graph/graph.h"

namespace voxswap::net {

// How feature maps become logits. normalized: through a convolution, a norm and an activation (IBM's
// variant).
enum class Heads { plain, normalized };
constexpr std::array<std::string_view, 2> names_of(Heads) {
  return {"plain", "normalized"};
}

// Upsampling in the decoder: transposed convolution, or nearest neighbour followed by a convolution.
enum class Upsampling { transposed, nearest };
constexpr std::array<std::string_view, 2> names_of(Upsampling) {
  return {"transposed", "nearest"};
}

// Ratio of image side to feature map side in deeplabv3.
enum class OutputStride { eight, sixteen };
constexpr std::array<std::string_view, 2> names_of(OutputStride) {
  return {"8", "16"};
}

using Along = std::array<std::int64_t, 3>;  // x, y, z, which are W, H, D

// The `network` part of an experiment.
struct NetworkOptions {
  std::string name = "isensee2017";  // one of network_names()
  std::int64_t base_filters = 16;
  std::int64_t max_filters = 320;                      // plain_unet, resenc_unet: limit for all levels
  std::int64_t depth = 5;                              // levels; resnet3d, resnet: residual blocks
  double dropout = 0.3;                                // isensee2017, deeplabv3
  double slope = 0.3;                                  // leaky ReLU; not used by unet3d
  Heads heads = Heads::plain;                          // isensee2017
  Upsampling upsampling = Upsampling::transposed;      // unet3d
  OutputStride output_stride = OutputStride::sixteen;  // deeplabv3
  // plain_unet, resenc_unet: per level, the largest first; deeper levels reuse the last entry. Empty: kernels
  // of 3, and each level halves the sides.
  std::vector<Along> kernels{}, strides{};
  // Name patterns of frozen parameters (is_frozen).
  std::vector<std::string> frozen{};
  // Deep supervision: loss weights of the full resolution and the levels below it, normalised to sum 1.
  // Empty: only the full resolution has a loss.
  std::vector<double> deep_supervision{};
  bool operator==(const NetworkOptions&) const = default;
};

struct ForwardGraph {
  Graph graph;
  ValueId input = none;               // N,D,H,W,C, of the activation type; zeros in padding channels
  ValueId logits = none;              // N,D,H,W,outputs, full precision; before sigmoid or
                                      // soft-max; N,1,1,1,outputs for classifiers
  std::vector<ValueId> lower_logits;  // of lower levels, larger first; training with deep supervision only
  std::vector<ValueId> parameters;    // in the order of the checkpoint; named as in PyTorch, e.g.
                                      // "encoder.0.input.conv.weight"
  std::vector<ValueId> trained;       // parameters that some node reads: no biases before a norm,
                                      // no frozen parameters
};

// Frozen parameters: parts of a network that training does not change, selected by name. They get no
// gradients, and gradients needed only for them are not computed. Frozen batch norms use their running
// statistics.

// A pattern is a name or its beginning up to a dot ("encoder", "encoder.stages.0"). * matches anything, also
// dots. The running mean and variance of a norm are frozen together.
bool is_frozen(const NetworkOptions& options, const std::string& parameter);

// Throws Exit::usage for a pattern that matches no parameter, and when no parameter is left to train.
void check_frozen(const NetworkOptions& options, const ForwardGraph& network);

}  // namespace voxswap::net
