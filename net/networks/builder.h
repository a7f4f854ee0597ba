// What the networks' files build with, and the rows of their table (networks.cpp).
//
// A network is built twice: once to learn its parameters, and then into the graph proper, where the
// parameters (and the optimiser's state, if any) come first. So persistent values have the same ids whatever
// is built on them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "net/graph/kernel_axes.h"
#include "net/networks/network.h"

namespace voxswap::net {

// A convolution's bias is added, unless an instance norm is all that reads the result: that takes away the
// mean of every channel, and a constant is part of the mean. Such a bias is still a parameter, which
// checkpoints hold as it came, but no node reads it and training never changes it. Networks that were
// published without it have none in front of their norms.
enum class Bias { added, taken_by_norm, absent };

class NetworkBuilder {
 public:
  NetworkBuilder(Graph& into, const NetworkOptions& with, ElementType type, bool for_training)
      : graph(into), options(with), activations(type), training(for_training) {}

  // The images, N,D,H,W,C, as the step reads them.
  ValueId add_image(const Shape& shape, std::int64_t voxel_alignment);
  // Them with zeros behind the channels, such that a voxel takes a multiple of `voxel_alignment` bytes. Only
  // convolutions read that: with weights that are as wide and zero there. It is made on the device, so that
  // what lies in the host's memory and crosses the link are the images alone.
  ValueId image() const { return image_; }
  // The parameter of that name, added to the graph when it is not there yet.
  ValueId parameter(const std::string& name, const Shape& shape);

  // Convolution, "same" padding: parameters NAME.weight and NAME.bias.
  ValueId convolution(const std::string& name, ValueId x, std::int64_t channels, std::int64_t kernel,
                      Bias bias, std::int64_t stride = 1);
  // The same with a kernel that may differ from axis to axis.
  ValueId convolution(const std::string& name, ValueId x, std::int64_t channels, const KernelAxes& axes,
                      Bias bias);
  // Kernel 1, without bias, over the channels of several volumes side by side, which are never made one:
  // convolutions that are summed.
  ValueId convolution_of_parts(const std::string& name, const std::vector<ValueId>& parts,
                               std::int64_t channels);
  // The same, kernel 3, of the upsampled x, which is never made (ops/upsampled_convolution.cpp). REQUIRES: an
  // instance norm is all that reads the result.
  ValueId convolution_of_upsampled(const std::string& name, ValueId x, std::int64_t channels);
  // The same over the channels of two volumes, as two convolutions that are summed: their
  // concatenation, the largest tensor of a U-Net, is never made, neither here nor in the backward pass. The
  // skip comes first and the volume from below is made in between: so in the backward pass everything below
  // it is done before the gradient of the skip is made, which has long to wait.
  struct Halves {
    ValueId of_skip = none,
            of_up = none;  // weights; NAME.weight holds them in the order that `skip_first` says
    ValueId sum = none;    // what the skip gives, with the bias if that is added
    Attributes attributes;
  };
  Halves convolution_of_skip(const std::string& name, ValueId skip, bool skip_first, std::int64_t up_channels,
                             std::int64_t channels, Bias bias, const KernelAxes& axes = cube(3, 1, 1));
  ValueId with_convolution_of_up(const std::string& name, const Halves& halves, ValueId up);
  // Transposed convolution with bias. REQUIRES: kernels as long as their strides, by which the sides grow.
  ValueId transposed_convolution(const std::string& name, ValueId x, std::int64_t channels,
                                 const KernelAxes& axes = cube(2, 2, 0));

  // Instance norm with parameters NAME.norm.weight and NAME.norm.bias, leaky ReLU, the optional factor per
  // channel and the optional residual.
  ValueId norm_activation(const std::string& name, ValueId x, ValueId scale = none, ValueId residual = none);
  // The norm alone, and the optional residual.
  ValueId norm(const std::string& name, ValueId x, ValueId residual = none);
  // Batch norm with parameters NAME.weight and NAME.bias and the running NAME.running_mean and
  // NAME.running_var (momentum 0.1), which predictions take, and training where they are frozen; then leaky
  // ReLU of this slope, the optional factor per channel and the optional residual.
  ValueId batch_norm(const std::string& name, ValueId x, double slope, ValueId scale = none,
                     ValueId residual = none);
  // Factors of spatial dropout for a volume like x; none where there is no dropout.
  ValueId dropout_scale(const std::string& name, ValueId x);

  ValueId full_precision(const std::string& name, ValueId x);  // x itself where it is so already
  ValueId average(const std::string& name, ValueId x);         // N,1,1,1,C
  // A volume of one voxel, N,1,1,1,C, as each voxel of one with the sides of `like`.
  ValueId everywhere(const std::string& name, ValueId x, const Shape& like);
  // Linear interpolation to the sides of `like`, N,D,H,W,C.
  ValueId resize(const std::string& name, ValueId x, const Shape& like);
  ValueId upsample(const std::string& name, ValueId x) { return graph.apply("upsample_nearest", name, {x}); }
  std::int64_t channels(ValueId x) const { return x == image_ ? image_channels_ : graph.value(x).shape[-1]; }
  ElementType full_type() const {
    return activations == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  }

  Graph& graph;
  const NetworkOptions& options;
  ElementType activations;
  bool training;
  std::vector<ValueId> lower_logits;  // ForwardGraph's, the smaller first

 private:
  ValueId normed(const std::string& name, ValueId x, double slope, ValueId scale, ValueId residual);
  // x, the weight as wide as x is stored, and the bias where it is added: the inputs of a convolution.
  ValueId padded_weight(ValueId x, ValueId weight, const std::string& name);
  std::vector<ValueId> operands(ValueId x, ValueId weight, const std::string& name, std::int64_t channels,
                                Bias bias);

  std::map<std::string, ValueId> parameters_;
  std::int64_t dropouts_ = 0;
  ValueId image_ = none;
  std::int64_t image_channels_ = 0;
};

struct Network {
  std::string name;
  const char* meaning;  // in a few words
  std::int64_t least_depth, most_depth;
  bool halves;  // the sides from level to level: they are then multiples of 2^(depth - 1)
  void (*check)(const NetworkOptions& options);  // throws Exit::usage for what this network does not take
  ValueId (*build)(NetworkBuilder& builder, ValueId input, std::int64_t outputs);  // returns the logits
  bool images = false;         // takes volumes of one plane alone, whose rows it has for planes
  bool classifies = false;     // its logits are of the image, not of voxels: N,1,1,1,outputs
  bool mixes_samples = false;  // batch norm: a batch is taken at once
  // Takes kernels, strides and losses of its levels (net/networks/levels.h).
  bool by_level = false;
};
const Network& isensee2017();
const Network& unet3d();
const Network& resnet3d();
const Network& plain_unet();
const Network& resenc_unet();
const Network& resnet18();
const Network& resnet50();
const Network& resnet101();
const Network& resnet152();
const Network& resnet();
const Network& deeplabv3();

// Throws Exit::usage where keys that none of the networks of images takes have another value than theirs.
void check_image_network(const NetworkOptions& options);
// Likewise of network.output_stride, which is deeplabv3's alone.
void check_no_output_stride(const NetworkOptions& options);

// The feature maps of a ResNet in front of its classifier (resnet.cpp). `output_stride`, 8, 16 or 32: by how
// much they are smaller than the image; below 32 the last stages are dilated instead of strided (Chen et al.
// 2017).
struct ResNet {
  bool bottleneck;
  std::array<std::int64_t, 4> blocks;  // of its four stages
};
constexpr ResNet resnet50_layout = {true, {3, 4, 6, 3}};
ValueId resnet_features(NetworkBuilder& b, const std::string& prefix, ValueId image, const ResNet& layout,
                        std::int64_t output_stride);

}  // namespace voxswap::net
