// nnU-Net's U-Nets (Isensee et al. 2021): their levels and decoder, the plain one and the one with a residual
// encoder.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "net/networks/builder.h"
#include "net/networks/networks.h"

namespace voxswap::net {

namespace {

// Deeper levels reuse the last entry.
const Along& of_level(const std::vector<Along>& given, std::int64_t level) {
  return given[std::min(static_cast<std::size_t>(level), given.size() - 1)];
}

// Along x, y, z, which are the width, the height and the depth.
KernelAxes axes_of(const Along& kernel, const Along& stride) {
  KernelAxes axes;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t side = kernel[2 - i];
    axes[i] = {side, stride[2 - i], side / 2, side / 2, 1};
  }
  return axes;
}

void check_given(const std::vector<Along>& given, const char* key, const Along& allowed, std::int64_t depth) {
  if (static_cast<std::int64_t>(given.size()) > depth)
    fail(Exit::usage, "{}: {} given, but {} is {}", key, counted(given.size(), "level"), key::network_depth,
         depth);
  for (const Along& of_axes : given)
    for (const std::int64_t side : of_axes)
      if (std::find(allowed.begin(), allowed.end(), side) == allowed.end())
        fail(Exit::usage, "{}: expected {} or {} per axis, found {}", key, allowed[0], allowed[1], side);
}

// The lowest level has no logits. Each level above it has one loss.
void check_supervision(const NetworkOptions& options) {
  const std::vector<double>& weights = options.deep_supervision;
  if (static_cast<std::int64_t>(weights.size()) >= options.depth)
    fail(Exit::usage, "{}: at most {} when {} is {}, found {}", key::training_deep_supervision,
         counted(options.depth - 1, "weight"), key::network_depth, options.depth, weights.size());
  for (const double weight : weights)
    if (!(weight > 0 && weight < 1e6))
      fail(Exit::usage, "{}: expected weights above 0, found {}", key::training_deep_supervision,
           number(weight));
}

// Logits of a level. Below the first level, only that level's own loss reads them, in training.
ValueId logits_of(NetworkBuilder& b, std::int64_t level, ValueId x, std::int64_t outputs) {
  const std::string head = format("decoder.seg_layers.{}", b.options.depth - 2 - level);
  return b.full_precision(head + ".full", b.convolution(head, x, outputs, KernelAxes{}, Bias::added));
}

// Upsamples a level's volume to the sides of the level above.
ValueId up(NetworkBuilder& b, std::int64_t level, ValueId x, std::int64_t step) {
  const Along stride = level_stride(b.options, level + 1);
  KernelAxes axes = axes_of(stride, stride);
  for (KernelAxis& axis : axes) axis.before = axis.behind = 0;
  return b.transposed_convolution(format("decoder.transpconvs.{}", step), x, level_channels(b.options, level),
                                  axes);
}

void check_levels(const NetworkOptions& options) {
  check_no_output_stride(options);
  check_plain_heads(options);
  check_no_upsampling(options);
  check_given(options.kernels, key::network_kernels, {1, 3, 3}, options.depth);
  check_given(options.strides, key::network_strides, {1, 2, 2}, options.depth);
  check_supervision(options);
  if (level_stride(options, 0) != Along{1, 1, 1})
    fail(Exit::usage, "{}: the first level has full resolution. Expected 1, found {}", key::network_strides,
         Shape{options.strides[0][0], options.strides[0][1], options.strides[0][2]}.text());
}

}  // namespace

std::int64_t level_channels(const NetworkOptions& options, std::int64_t level) {
  return std::min(options.base_filters << level, options.max_filters);
}

Along level_kernel(const NetworkOptions& options, std::int64_t level) {
  return options.kernels.empty() ? Along{3, 3, 3} : of_level(options.kernels, level);
}

Along level_stride(const NetworkOptions& options, std::int64_t level) {
  if (!options.strides.empty()) return of_level(options.strides, level);
  return level == 0 ? Along{1, 1, 1} : Along{2, 2, 2};
}

KernelAxes level_axes(const NetworkOptions& options, std::int64_t level) {
  return axes_of(level_kernel(options, level), {1, 1, 1});
}

KernelAxes strided_level_axes(const NetworkOptions& options, std::int64_t level) {
  return axes_of(level_kernel(options, level), level_stride(options, level));
}

Network network_of_levels(const char* name, const char* meaning,
                          ValueId (*build)(NetworkBuilder&, ValueId, std::int64_t)) {
  return {.name = name,
          .meaning = meaning,
          .least_depth = 2,
          .most_depth = 8,
          .halves = false,
          .check = check_levels,
          .build = build,
          .by_level = true};
}

ValueId level_block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
                    const KernelAxes& axes) {
  return b.norm_activation(name, b.convolution(name + ".conv", x, channels, axes, Bias::taken_by_norm));
}

// Stages are counted from the lowest level.
ValueId decode(NetworkBuilder& b, const std::vector<ValueId>& skips, std::int64_t convolutions,
               std::int64_t outputs) {
  ValueId x = skips.back();
  for (std::int64_t level = b.options.depth - 2; level >= 0; --level) {
    const std::int64_t step = b.options.depth - 2 - level, channels = level_channels(b.options, level);
    const KernelAxes axes = level_axes(b.options, level);
    const std::string stage = format("decoder.stages.{}.convs.", step), first = stage + "0";
    const auto halves =
        b.convolution_of_skip(first + ".conv", skips[static_cast<std::size_t>(level)], /*skip_first=*/false,
                              channels, channels, Bias::taken_by_norm, axes);
    const ValueId large = up(b, level, x, step);
    x = b.norm_activation(first, b.with_convolution_of_up(first + ".conv", halves, large));
    for (std::int64_t i = 1; i < convolutions; ++i)
      x = level_block(b, stage + std::to_string(i), x, channels, axes);
    const auto supervised = static_cast<std::int64_t>(b.options.deep_supervision.size());
    if (b.training && level > 0 && level < supervised)
      b.lower_logits.push_back(logits_of(b, level, x, outputs));
  }
  return logits_of(b, 0, x, outputs);
}

// The plain U-Net of nnU-Net (net/networks/builder.h): two convolutions per level in encoder and decoder. The
// first of an encoder level is strided.

namespace {

constexpr std::int64_t convolutions = 2;  // per level

ValueId build_plain_unet(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x = input;
  for (std::int64_t level = 0; level < b.options.depth; ++level) {
    for (std::int64_t i = 0; i < convolutions; ++i)
      x = level_block(b, format("encoder.stages.{}.0.convs.{}", level, i), x,
                      level_channels(b.options, level),
                      i == 0 ? strided_level_axes(b.options, level) : level_axes(b.options, level));
    skips.push_back(x);
  }
  return decode(b, skips, convolutions, outputs);
}

}  // namespace

const Network& plain_unet() {
  static const Network network = network_of_levels("plain_unet", "nnU-Net's U-Net", build_plain_unet);
  return network;
}

// nnU-Net's U-Net with a residual encoder (net/networks/builder.h; its blocks: He et al., "Bag of Tricks for
// Image Classification with Convolutional Neural Networks", 2019, ResNet-D). Deeper levels have more blocks.
// The decoder has one convolution per level.

std::int64_t level_blocks(const NetworkOptions& options, std::int64_t level) {
  if (options.name == plain_unet().name) return 2;
  constexpr std::array<std::int64_t, 4> blocks = {1, 3, 4, 6};  // per level; 6 for further levels
  return blocks[std::min<std::size_t>(static_cast<std::size_t>(level), blocks.size() - 1)];
}

namespace {

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

ValueId build_resenc_unet(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x =
      level_block(b, "encoder.stem.convs.0", input, level_channels(b.options, 0), level_axes(b.options, 0));
  for (std::int64_t level = 0; level < b.options.depth; ++level) {
    for (std::int64_t i = 0; i < level_blocks(b.options, level); ++i)
      x = residual_block(b, format("encoder.stages.{}.blocks.{}", level, i), x, level, i == 0);
    skips.push_back(x);
  }
  return decode(b, skips, /*convolutions=*/1, outputs);
}

}  // namespace

const Network& resenc_unet() {
  static const Network network =
      network_of_levels("resenc_unet", "nnU-Net's residual encoder U-Net", build_resenc_unet);
  return network;
}

}  // namespace voxswap::net
