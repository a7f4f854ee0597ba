// nnU-Net's U-Net with a residual encoder (net/networks/levels.h; its blocks: He et al., "Bag of Tricks for
// Image Classification with Convolutional Neural Networks", 2019, ResNet-D). Deeper levels have more blocks.
// The decoder has one convolution per level.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/networks/levels.h"

namespace voxswap::net {

namespace {

constexpr std::array<std::int64_t, 4> blocks = {1, 3, 4, 6};  // per level; 6 for further levels

std::int64_t level_blocks(std::int64_t level) {
  return blocks[std::min<std::size_t>(static_cast<std::size_t>(level), blocks.size() - 1)];
}

// Average pooling. Linear interpolation is the same where a side is halved.
ValueId averaged(NetworkBuilder& b, const std::string& name, ValueId x, const Along& stride) {
  Shape sides = b.graph.value(x).shape;
  for (int axis = 0; axis < 3; ++axis) sides[1 + axis] /= stride[static_cast<std::size_t>(2 - axis)];
  return b.resize(name, x, sides);
}

// The shortcut of a block: the identity if the shape fits.
ValueId shortcut(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
                 const Along& stride) {
  int part = 0;
  if (stride != Along{1, 1, 1}) x = averaged(b, format("{}.{}", name, part++), x, stride);
  if (b.channels(x) == channels) return x;
  const std::string projection = format("{}.{}", name, part);
  return b.norm(projection, b.convolution(projection + ".conv", x, channels, KernelAxes{}, Bias::absent));
}

// The activation comes after the residual is added.
ValueId residual_block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t level,
                       bool is_first) {
  const std::int64_t channels = level_channels(b.options, level);
  const KernelAxes axes = level_axes(b.options, level);
  const ValueId seen =
      level_block(b, name + ".conv1", x, channels, is_first ? strided_level_axes(b.options, level) : axes);
  const ValueId past =
      shortcut(b, name + ".skip", x, channels, is_first ? level_stride(b.options, level) : Along{1, 1, 1});
  const ValueId y = b.convolution(name + ".conv2.conv", seen, channels, axes, Bias::taken_by_norm);
  return b.graph.apply("leaky_relu", name + ".nonlin2", {b.norm(name + ".conv2", y, past)},
                       {{"slope", b.options.slope}});
}

ValueId build(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x =
      level_block(b, "encoder.stem.convs.0", input, level_channels(b.options, 0), level_axes(b.options, 0));
  for (std::int64_t level = 0; level < b.options.depth; ++level) {
    for (std::int64_t i = 0; i < level_blocks(level); ++i)
      x = residual_block(b, format("encoder.stages.{}.blocks.{}", level, i), x, level, i == 0);
    skips.push_back(x);
  }
  return decode(b, skips, /*convolutions=*/1, outputs);
}

}  // namespace

const Network& resenc_unet() {
  static const Network network = network_of_levels("resenc_unet", "nnU-Net's residual encoder U-Net", build);
  return network;
}

}  // namespace voxswap::net
