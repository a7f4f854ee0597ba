// The plain 3D U-Net (Çiçek et al. 2016) in the form of ellisdg/3DUnetCNN's unet_model_3d without batch norm:
// two convolutions with ReLU per level, max pooling, transposed convolutions or nearest upsampling.
#include "base/error.h"
#include "base/keys.h"
#include "net/networks/builder.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

void check(const NetworkOptions& options) {
  check_no_output_stride(options);
  check_plain_heads(options);
}

ValueId relu(NetworkBuilder& b, const std::string& name, ValueId x) {
  return b.graph.apply("leaky_relu", name + ".relu", {x}, {{"slope", 0}});
}
ValueId convolution_relu(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels) {
  return relu(b, name, b.convolution(name, x, channels, 3, Bias::added));
}

ValueId up(NetworkBuilder& b, const std::string& name, ValueId x) {
  return b.options.upsampling == Upsampling::nearest ? b.upsample(name, x)
                                                     : b.transposed_convolution(name, x, b.channels(x));
}

ValueId build(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  std::vector<ValueId> skips;
  ValueId x = input;
  for (std::int64_t level = 0; level < b.options.depth; ++level) {
    const std::int64_t channels = b.options.base_filters << level;
    if (level > 0) x = b.graph.apply("max_pool", format("encoder.{}.pool", level), {x});
    x = convolution_relu(b, format("encoder.{}.conv.0", level), x, channels);
    x = convolution_relu(b, format("encoder.{}.conv.1", level), x, 2 * channels);
    skips.push_back(x);
  }
  for (std::int64_t level = b.options.depth - 2; level >= 0; --level) {
    const ValueId skip = skips[static_cast<std::size_t>(level)];
    const std::string first = format("decoder.{}.conv.0", level);
    const auto halves = b.convolution_of_skip(first, skip, /*skip_first=*/false, b.channels(x),
                                              b.channels(skip), Bias::added);
    x = up(b, format("decoder.{}.up", level), x);
    x = relu(b, first, b.with_convolution_of_up(first, halves, x));
    x = convolution_relu(b, format("decoder.{}.conv.1", level), x, b.channels(skip));
  }
  return b.full_precision("head.0.full", b.convolution("head.0.conv", x, outputs, 1, Bias::added));
}

}  // namespace

const Network& unet3d() {
  static const Network network = {"unet3d", "3D U-Net (Çiçek et al. 2016)", 2, 8, /*halves=*/true, check,
                                  build};
  return network;
}

}  // namespace voxswap::net
