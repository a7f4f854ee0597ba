// What a network is asked to be, and the graph of its forward pass.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "net/graph/graph.h"

namespace voxswap::net {

// How feature maps become logits; normalized: through a convolution, a norm and an activation (IBM's
// variant).
enum class Heads { plain, normalized };
constexpr std::array<std::string_view, 2> names_of(Heads) {
  return {"plain", "normalized"};
}

// What doubles the sides on the way up: transposed convolutions, or nearest neighbours before a convolution.
enum class Upsampling { transposed, nearest };
constexpr std::array<std::string_view, 2> names_of(Upsampling) {
  return {"transposed", "nearest"};
}

// By how much the feature maps of deeplabv3 are smaller than the image.
enum class OutputStride { eight, sixteen };
constexpr std::array<std::string_view, 2> names_of(OutputStride) {
  return {"8", "16"};
}

using Along = std::array<std::int64_t, 3>;  // x, y, z, which are W, H, D

// The `network` part of an experiment.
struct NetworkOptions {
  std::string name = "isensee2017";  // one of network_names()
  std::int64_t base_filters = 16;
  std::int64_t max_filters = 320;                      // plain_unet, resenc_unet: of any level
  std::int64_t depth = 5;                              // levels; resnet3d, resnet: residual blocks
  double dropout = 0.3;                                // isensee2017, deeplabv3
  double slope = 0.3;                                  // of the leaky ReLU; unet3d has none
  Heads heads = Heads::plain;                          // isensee2017
  Upsampling upsampling = Upsampling::transposed;      // unet3d
  OutputStride output_stride = OutputStride::sixteen;  // deeplabv3
  // plain_unet, resenc_unet: of each level, the largest first; the last holds for all that follow. None:
  // kernels of 3, and every level has half the sides of the one above.
  std::vector<Along> kernels{}, strides{};
  // Of parameters, patterns of the names of those that training leaves as they are (net/networks/frozen.h).
  std::vector<std::string> frozen{};
  // Of the losses at the level of the volume and at those below it, in training (deep supervision); none:
  // there is but the first. They count by their share of the sum.
  std::vector<double> deep_supervision{};
};

struct ForwardGraph {
  Graph graph;
  ValueId input = none;               // N,D,H,W,C, of the activation type; zeros behind the image's channels
  ValueId logits = none;              // N,D,H,W,outputs, full precision; sigmoid of it is the prediction, or
                                      // soft-max; of a classifier of images N,1,1,1,outputs
  std::vector<ValueId> lower_logits;  // training with deep supervision: of the levels below, the larger first
  std::vector<ValueId> parameters;    // in the order of the checkpoint; named as in the PyTorch module, e.g.
                                      // "encoder.0.input.conv.weight"
  std::vector<ValueId> trained;       // those that some node reads: not the biases in front of a norm, nor
                                      // what is frozen
};

}  // namespace voxswap::net
