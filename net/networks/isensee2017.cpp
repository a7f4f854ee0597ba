// The network of Isensee et al., "Brain Tumor Segmentation and Radiomics Survival Prediction: Contribution to
// the BRATS 2017 Challenge" (2017), in the form of ellisdg/3DUnetCNN: residual encoder blocks, instance norm,
// leaky ReLU, and heads at several resolutions whose upsampled outputs are added (deep supervision).
#include <algorithm>

#include "base/error.h"
#include "base/keys.h"
#include "net/networks/builder.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

void check(const NetworkOptions& options) {
  check_no_output_stride(options);
  check_no_upsampling(options);
}

// Convolution, instance norm, leaky ReLU; dropout and residual are fused into the last pass.
ValueId block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
              std::int64_t kernel, std::int64_t stride = 1, bool dropout = false, ValueId residual = none) {
  const ValueId y = b.convolution(name + ".conv", x, channels, kernel, Bias::taken_by_norm, stride);
  const ValueId scale = dropout ? b.dropout_scale(name + ".dropout", y) : none;
  return b.norm_activation(name, y, scale, residual);
}

ValueId encoder_level(NetworkBuilder& b, std::int64_t level, ValueId x) {
  const std::string name = format("encoder.{}", level);
  const std::int64_t channels = b.options.base_filters << level;
  const ValueId a = block(b, name + ".input", x, channels, 3, level == 0 ? 1 : 2);
  const ValueId c = block(b, name + ".context.0", a, channels, 3, 1, /*dropout=*/true);
  return block(b, name + ".context.1", c, channels, 3, 1, /*dropout=*/false, /*residual=*/a);
}

ValueId decoder_level(NetworkBuilder& b, std::int64_t level, ValueId x, ValueId skip) {
  const std::string name = format("decoder.{}", level);
  const std::int64_t channels = b.options.base_filters << level;
  const std::string first = name + ".localization.0";
  const auto halves = b.convolution_of_skip(first + ".conv", skip, /*skip_first=*/true, channels, channels,
                                            Bias::taken_by_norm);
  const ValueId up =
      b.norm_activation(name + ".up", b.convolution_of_upsampled(name + ".up.conv", x, channels));
  const ValueId y = b.norm_activation(first, b.with_convolution_of_up(first + ".conv", halves, up));
  return block(b, name + ".localization.1", y, channels, 1);
}

// Computed in full precision, because the heads are added and the loss reads the sum.
ValueId head(NetworkBuilder& b, std::int64_t level, ValueId x, std::int64_t outputs) {
  const std::string name = format("head.{}", level);
  const ValueId y = b.options.heads == Heads::normalized
                        ? block(b, name, x, outputs, 1)
                        : b.convolution(name + ".conv", x, outputs, 1, Bias::added);
  return b.full_precision(name + ".full", y);
}

// Each head is added as soon as its level is done, so that the backward pass makes the heads' gradients in
// the order in which it needs them.
ValueId build(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x = input, sum = none;
  for (std::int64_t level = 0; level < b.options.depth; ++level)
    skips.push_back(x = encoder_level(b, level, x));
  const std::int64_t first_head = std::min<std::int64_t>(2, b.options.depth - 2);
  for (std::int64_t level = b.options.depth - 2; level >= 0; --level) {
    x = decoder_level(b, level, x, skips[static_cast<std::size_t>(level)]);
    if (level > first_head) continue;
    const ValueId y = head(b, level, x, outputs);
    sum = sum == none ? y
                      : b.graph.apply("add", format("head.{}.sum", level),
                                      {b.upsample(format("head.{}.upsample", level + 1), sum), y});
  }
  return sum;
}

}  // namespace

const Network& isensee2017() {
  static const Network network = {"isensee2017",
                                  "residual U-Net of BraTS 2017, with summed logits of several levels",
                                  2,
                                  8,
                                  /*halves=*/true,
                                  check,
                                  build};
  return network;
}

}  // namespace voxswap::net
