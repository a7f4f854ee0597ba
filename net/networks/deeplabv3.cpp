// DeepLabV3 (Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation", 2017) on a
// ResNet-50, with torchvision's structure and names: dilated last stages, a pyramid of dilated convolutions
// and the image's mean, and logits interpolated to the image's sides. Unlike torchvision, the dropout before
// the head drops whole channels, and there is no auxiliary head.
#include "base/error.h"
#include "net/networks/builder.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

void check(const NetworkOptions& options) {
  check_plain_heads(options);
  check_no_upsampling(options);
}

constexpr double relu_slope = 0;

// The five feature maps of the pyramid, with the sides of x.
std::vector<ValueId> pyramid(NetworkBuilder& b, ValueId x, std::int64_t channels, std::int64_t rate) {
  const std::string name = "classifier.0.convs.";
  const Shape sides = b.graph.value(x).shape;
  const auto branch = [&](int number, const KernelAxes& axes) {
    const ValueId y = b.convolution(format("{}{}.0", name, number), x, channels, axes, Bias::absent);
    return b.batch_norm(format("{}{}.1", name, number), y, relu_slope);
  };
  std::vector<ValueId> maps = {branch(0, of_rows(1, 1, 0))};
  for (int i = 1; i <= 3; ++i) maps.push_back(branch(i, of_rows(3, 1, i * rate, i * rate)));
  const ValueId mean = b.average(name + "4.0", x);
  const ValueId y = b.convolution(name + "4.1", mean, channels, KernelAxes{}, Bias::absent);
  maps.push_back(b.everywhere(name + "4.resized", b.batch_norm(name + "4.2", y, relu_slope), sides));
  return maps;
}

ValueId build(NetworkBuilder& b, ValueId image, std::int64_t outputs) {
  const bool eight = b.options.output_stride == OutputStride::eight;
  const Shape sides = b.graph.value(image).shape;
  const std::int64_t channels = 4 * b.options.base_filters, rate = eight ? 12 : 6;
  const ValueId features = resnet_features(b, "backbone.", image, resnet50_layout, eight ? 8 : 16);
  const ValueId projected =
      b.convolution_of_parts("classifier.0.project.0", pyramid(b, features, channels, rate), channels);
  const ValueId x = b.batch_norm("classifier.0.project.1", projected, relu_slope,
                                 b.dropout_scale("classifier.0.project.3", projected));
  const ValueId seen = b.convolution("classifier.1", x, channels, of_rows(3, 1, 1), Bias::absent);
  const ValueId y = b.batch_norm("classifier.2", seen, relu_slope);
  const ValueId logits = b.convolution("classifier.4", y, outputs, KernelAxes{}, Bias::added);
  return b.resize("logits", b.full_precision("classifier.4.full", logits), sides);
}

}  // namespace

const Network& deeplabv3() {
  static const Network network = {"deeplabv3",
                                  "torchvision's DeepLabV3 on a ResNet-50, without auxiliary head",
                                  1,
                                  2000,
                                  /*halves=*/false,
                                  check,
                                  build,
                                  /*images=*/true,
                                  /*classifies=*/false,
                                  /*mixes_samples=*/true};
  return network;
}

}  // namespace voxswap::net
