// A residual 3D network at full resolution that may be very deep: `depth` blocks of two 3x3x3 convolutions
// with identity shortcuts (He et al., "Identity Mappings in Deep Residual Networks", 2016, up to 1001
// layers). As there, a final norm precedes the head.
#include "base/error.h"
#include "base/keys.h"
#include "net/networks/builder.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

void check(const NetworkOptions& options) {
  check_no_output_stride(options);
  if (options.heads != Heads::plain)
    fail(Exit::usage, "{}: resnet3d has one plain head, found '{}'", key::network_heads,
         choice_name(options.heads));
  if (options.upsampling != Upsampling::transposed)
    fail(Exit::usage, "{}: {} is for unet3d only. resnet3d has no levels", key::network_upsampling,
         choice_name(options.upsampling));
}

// Convolution, instance norm, leaky ReLU; the residual is fused into the last pass.
ValueId layer(NetworkBuilder& b, const std::string& name, ValueId x, ValueId residual = none) {
  const ValueId y = b.convolution(name + ".conv", x, b.options.base_filters, 3, Bias::taken_by_norm);
  return b.norm_activation(name, y, none, residual);
}

ValueId build(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  ValueId x = layer(b, "stem", input);
  for (std::int64_t i = 0; i < b.options.depth; ++i) {
    const ValueId y = layer(b, format("block.{}.0", i), x);
    x = layer(b, format("block.{}.1", i), y, /*residual=*/x);
  }
  const ValueId y = b.norm_activation("final", x);
  return b.full_precision("head.0.full", b.convolution("head.0.conv", y, outputs, 1, Bias::added));
}

}  // namespace

const Network& resnet3d() {
  static const Network network = {
      "resnet3d", "residual blocks at full resolution", 1, 2000, /*halves=*/false, check, build};
  return network;
}

}  // namespace voxswap::net
