// ResNets: for images, and a 3D one at full resolution.
//
// For images (He et al., "Deep Residual Learning for Image Recognition", 2015), with torchvision's
// structure and names: a bottleneck's stride is in its 3x3 convolution, and a batch norm follows each
// convolution, which has no bias. `base_filters`: channels after the first convolution, 64 in the published
// networks. `resnet` allows more depth: bottlenecks are added to the third stage, as from 50 to 101 layers.
#include "base/error.h"
#include "base/keys.h"
#include "net/networks/builder.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

constexpr double linear = 1, relu_slope = 0;  // slope of the leaky ReLU

// Convolution without bias, then batch norm. Names NAME.convI and NAME.bnI.
ValueId layer_resnet(NetworkBuilder& b, const std::string& name, int number, ValueId x, std::int64_t channels,
                     const KernelAxes& axes, double slope, ValueId residual = none) {
  const ValueId y = b.convolution(format("{}conv{}", name, number), x, channels, axes, Bias::absent);
  return b.batch_norm(format("{}bn{}", name, number), y, slope, none, residual);
}

struct Block {
  std::int64_t planes = 0, stride = 1, dilation = 1;
  bool bottleneck = true;
  std::int64_t channels() const { return bottleneck ? 4 * planes : planes; }
};

ValueId shortcut(NetworkBuilder& b, const std::string& name, ValueId x, const Block& block) {
  if (block.stride == 1 && b.channels(x) == block.channels()) return x;
  const ValueId y =
      b.convolution(name + "downsample.0", x, block.channels(), of_rows(1, block.stride, 0), Bias::absent);
  return b.batch_norm(name + "downsample.1", y, linear);
}

// ReLU comes after the residual is added.
ValueId residual_block(NetworkBuilder& b, const std::string& name, ValueId x, const Block& block) {
  const KernelAxes strided = of_rows(3, block.stride, block.dilation, block.dilation);
  ValueId y;
  if (block.bottleneck) {
    const ValueId narrow = layer_resnet(b, name, 1, x, block.planes, of_rows(1, 1, 0), relu_slope);
    const ValueId seen = layer_resnet(b, name, 2, narrow, block.planes, strided, relu_slope);
    const ValueId past = shortcut(b, name, x, block);
    y = layer_resnet(b, name, 3, seen, block.channels(), of_rows(1, 1, 0), linear, past);
  } else {
    const ValueId seen = layer_resnet(b, name, 1, x, block.planes, strided, relu_slope);
    const ValueId past = shortcut(b, name, x, block);
    y = layer_resnet(b, name, 2, seen, block.planes, of_rows(3, 1, 1), linear, past);
  }
  return b.graph.apply("leaky_relu", name + "relu", {y}, {{"slope", relu_slope}});
}

ValueId classifier(NetworkBuilder& b, ValueId image, const ResNet& layout, std::int64_t outputs) {
  const ValueId features = resnet_features(b, "", image, layout, 32);
  const ValueId mean = b.average("avgpool", features);
  return b.full_precision("logits", b.convolution("fc", mean, outputs, KernelAxes{}, Bias::added));
}

template <const ResNet& layout>
ValueId build_resnet(NetworkBuilder& b, ValueId image, std::int64_t outputs) {
  return classifier(b, image, layout, outputs);
}

constexpr ResNet resnet18_layout = {false, {2, 2, 2, 2}};
constexpr ResNet resnet101_layout = {true, {3, 4, 23, 3}};
constexpr ResNet resnet152_layout = {true, {3, 8, 36, 3}};

constexpr std::int64_t bottlenecks(const ResNet& layout) {
  return layout.blocks[0] + layout.blocks[1] + layout.blocks[2] + layout.blocks[3];
}

// `depth` bottlenecks in total; 50 give ResNet-152.
ValueId build_deep(NetworkBuilder& b, ValueId image, std::int64_t outputs) {
  ResNet layout = resnet152_layout;
  layout.blocks[2] += b.options.depth - bottlenecks(layout);
  return classifier(b, image, layout, outputs);
}

void check_resnet(const NetworkOptions& options) {
  check_plain_heads(options);
  check_no_upsampling(options);
  check_no_output_stride(options);
}

Network network_of(const char* name, const char* meaning, decltype(Network::build) build,
                   std::int64_t least_depth = 1) {
  return {name,
          meaning,
          least_depth,
          2000,
          /*halves=*/false,
          check_resnet,
          build,
          /*images=*/true,
          /*classifies=*/true,
          /*mixes_samples=*/true};
}

}  // namespace

ValueId resnet_features(NetworkBuilder& b, const std::string& prefix, ValueId image, const ResNet& layout,
                        std::int64_t output_stride) {
  const std::int64_t base = b.options.base_filters;
  ValueId x = layer_resnet(b, prefix, 1, image, base, of_rows(7, 2, 3), relu_slope);
  const KernelAxes pool = of_rows(3, 2, 1);
  Attributes attributes = attributes_of(pool);
  set_kernel(attributes, pool);
  const NodeId pooled = b.graph.add("sliding_max_pool", prefix + "maxpool", {x}, attributes);
  x = b.graph.node(pooled).outputs[0];
  std::int64_t smaller = 4, dilation = 1;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    Block block = {.planes = base << stage, .bottleneck = layout.bottleneck};
    block.dilation = dilation;  // the first block keeps the dilation of the stage before
    if (stage > 0 && smaller < output_stride) {
      block.stride = 2;
      smaller *= 2;
    } else if (stage > 0) {
      dilation *= 2;
    }
    for (std::int64_t i = 0; i < layout.blocks[stage]; ++i) {
      x = residual_block(b, format("{}layer{}.{}.", prefix, stage + 1, i), x, block);
      block.stride = 1;
      block.dilation = dilation;
    }
  }
  return x;
}

void check_plain_heads(const NetworkOptions& options) {
  if (options.heads != Heads::plain)
    fail(Exit::usage, "{}: {} has plain heads only, found '{}'", key::network_heads, options.name,
         choice_name(options.heads));
}

void check_no_upsampling(const NetworkOptions& options) {
  if (options.upsampling != Upsampling::transposed)
    fail(Exit::usage, "{}: {} is for unet3d only. Leave it out for {}", key::network_upsampling,
         choice_name(options.upsampling), options.name);
}

void check_no_output_stride(const NetworkOptions& options) {
  if (options.output_stride != NetworkOptions().output_stride)
    fail(Exit::usage, "{}: {} is for deeplabv3 only. Leave it out for {}", key::network_output_stride,
         choice_name(options.output_stride), options.name);
}

const Network& resnet18() {
  static const Network network =
      network_of("resnet18", "torchvision's ResNet-18", build_resnet<resnet18_layout>);
  return network;
}
const Network& resnet50() {
  static const Network network =
      network_of("resnet50", "torchvision's ResNet-50", build_resnet<resnet50_layout>);
  return network;
}
const Network& resnet101() {
  static const Network network =
      network_of("resnet101", "torchvision's ResNet-101", build_resnet<resnet101_layout>);
  return network;
}
const Network& resnet152() {
  static const Network network =
      network_of("resnet152", "torchvision's ResNet-152", build_resnet<resnet152_layout>);
  return network;
}

const Network& resnet() {
  static const Network network =
      network_of("resnet", "ResNet-152 with a chosen number of bottlenecks", build_deep,
                 bottlenecks(resnet152_layout) - resnet152_layout.blocks[2] + 1);
  return network;
}

// A residual 3D network at full resolution that may be very deep: `depth` blocks of two 3x3x3 convolutions
// with identity shortcuts (He et al., "Identity Mappings in Deep Residual Networks", 2016, up to 1001
// layers). As there, a final norm precedes the head.

namespace {

// Convolution, instance norm, leaky ReLU; the residual is fused into the last pass.
ValueId layer_resnet3d(NetworkBuilder& b, const std::string& name, ValueId x, ValueId residual = none) {
  const ValueId y = b.convolution(name + ".conv", x, b.options.base_filters, 3, Bias::taken_by_norm);
  return b.norm_activation(name, y, none, residual);
}

ValueId build_resnet3d(NetworkBuilder& b, ValueId input, std::int64_t outputs) {
  ValueId x = layer_resnet3d(b, "stem", input);
  for (std::int64_t i = 0; i < b.options.depth; ++i) {
    const ValueId y = layer_resnet3d(b, format("block.{}.0", i), x);
    x = layer_resnet3d(b, format("block.{}.1", i), y, /*residual=*/x);
  }
  const ValueId y = b.norm_activation("final", x);
  return b.full_precision("head.0.full", b.convolution("head.0.conv", y, outputs, 1, Bias::added));
}

}  // namespace

const Network& resnet3d() {
  static const Network network = {
      "resnet3d",    "residual blocks at full resolution", 1, 2000, /*halves=*/false, check_resnet,
      build_resnet3d};
  return network;
}

}  // namespace voxswap::net
