// Building blocks shared by the networks' files, and the rows of the network table (networks.cpp).
//
// A network is built twice: once to find its parameters, then into the final graph, where parameters (and
// optimiser states, if any) come first. So persistent values have the same ids whatever graph is built on
// them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "net/graph/axes.h"
#include "net/networks/network.h"

namespace voxswap::net {

// Whether a convolution's bias is added. If only an instance norm reads the result, the bias has no effect:
// the norm removes each channel's mean (taken_by_norm). It is still a parameter that checkpoints keep, but no
// node reads it and training never changes it. Networks published without such biases have none (absent).
enum class Bias { added, taken_by_norm, absent };

class NetworkBuilder {
 public:
  NetworkBuilder(Graph& into, const NetworkOptions& with, ElementType type, bool for_training)
      : graph(into), options(with), activations(type), training(for_training) {}

  // Adds the image input, N,D,H,W,C, as the step reads it.
  ValueId add_image(const Shape& shape, std::int64_t voxel_alignment);
  // The image padded with zero channels, so that a voxel takes a multiple of `voxel_alignment` bytes. Only
  // convolutions read it, with zero weights for those channels. Padding runs on the device, so host memory
  // and the link to the device carry only the image.
  ValueId image() const { return image_; }
  // The parameter of this name. Adds it to the graph on first use.
  ValueId parameter(const std::string& name, const Shape& shape);

  // Convolution with "same" padding. Parameters NAME.weight and NAME.bias.
  ValueId convolution(const std::string& name, ValueId x, std::int64_t channels, std::int64_t kernel,
                      Bias bias, std::int64_t stride = 1);
  // The same with a kernel given per axis.
  ValueId convolution(const std::string& name, ValueId x, std::int64_t channels, const KernelAxes& axes,
                      Bias bias);
  // Convolution with kernel 1, without bias, over the concatenated channels of several volumes. It is
  // computed as a sum of convolutions, without concatenation.
  ValueId convolution_of_parts(const std::string& name, const std::vector<ValueId>& parts,
                               std::int64_t channels);
  // Convolution with kernel 3 of the upsampled x, without storing that (ops/upsampled_convolution.cpp).
  // REQUIRES: only an instance norm reads the result.
  ValueId convolution_of_upsampled(const std::string& name, ValueId x, std::int64_t channels);
  // Convolution over the concatenation of a skip connection and the upsampled volume, as a sum of two
  // convolutions. The concatenation, the largest tensor of a U-Net, is never stored, neither here nor in the
  // backward pass. The skip's convolution comes first, then the upsampled volume is made. So in the backward
  // pass all lower levels are finished before the skip's gradient is made, which is not needed until later.
  struct Halves {
    ValueId of_skip = none,
            of_up = none;  // weights; NAME.weight has them in the order given by `skip_first`
    ValueId sum = none;    // the skip's share, with the bias if it is added
    Attributes attributes;
  };
  Halves convolution_of_skip(const std::string& name, ValueId skip, bool skip_first, std::int64_t up_channels,
                             std::int64_t channels, Bias bias, const KernelAxes& axes = cube(3, 1, 1));
  ValueId with_convolution_of_up(const std::string& name, const Halves& halves, ValueId up);
  // Transposed convolution with bias. It scales the sides by the strides. REQUIRES: kernel = stride along
  // each axis.
  ValueId transposed_convolution(const std::string& name, ValueId x, std::int64_t channels,
                                 const KernelAxes& axes = cube(2, 2, 0));

  // Instance norm (parameters NAME.norm.weight and NAME.norm.bias), leaky ReLU, optional factor per channel,
  // optional residual.
  ValueId norm_activation(const std::string& name, ValueId x, ValueId scale = none, ValueId residual = none);
  // Instance norm and the optional residual, without leaky ReLU.
  ValueId norm(const std::string& name, ValueId x, ValueId residual = none);
  // Batch norm with parameters NAME.weight and NAME.bias, then leaky ReLU of this slope, optional factor per
  // channel, optional residual. Running statistics NAME.running_mean and NAME.running_var (momentum 0.1) are
  // used in prediction, and in training where the norm is frozen.
  ValueId batch_norm(const std::string& name, ValueId x, double slope, ValueId scale = none,
                     ValueId residual = none);
  // Factors of spatial dropout for a volume like x; none without dropout.
  ValueId dropout_scale(const std::string& name, ValueId x);

  ValueId full_precision(const std::string& name, ValueId x);  // x itself if it already has full precision
  ValueId average(const std::string& name, ValueId x);         // mean over voxels: N,1,1,1,C
  // Broadcasts a volume of one voxel, N,1,1,1,C, to the sides of `like`.
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
  std::vector<ValueId> lower_logits;  // ForwardGraph::lower_logits, but the smallest first

 private:
  ValueId normed(const std::string& name, ValueId x, double slope, ValueId scale, ValueId residual);
  // The inputs of a convolution: x, the weight padded to the channels stored in x, and the bias if it is
  // added.
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
  bool halves;  // each level halves the sides, which must be multiples of 2^(depth - 1)
  void (*check)(
      const NetworkOptions& options);  // throws Exit::usage for options that this network does not support
  ValueId (*build)(NetworkBuilder& builder, ValueId input, std::int64_t outputs);  // returns the logits
  bool images = false;         // takes only volumes of one plane (2D), whose rows become the planes
  bool classifies = false;     // logits of the image, not of voxels: N,1,1,1,outputs
  bool mixes_samples = false;  // batch norm: needs the whole batch at once
  // Supports kernels, strides and loss weights per level (net/networks/builder.h).
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

// Each throws Exit::usage if a key that the network does not use differs from its default: network.heads,
// network.upsampling, and network.output_stride, which only deeplabv3 uses.
void check_plain_heads(const NetworkOptions& options);
void check_no_upsampling(const NetworkOptions& options);
void check_no_output_stride(const NetworkOptions& options);

// Feature maps of a ResNet, before its classifier (resnet.cpp). `output_stride` (8, 16 or 32): image side
// divided by feature map side. Below 32, the last stages are dilated instead of strided (Chen et al. 2017).
struct ResNet {
  bool bottleneck;
  std::array<std::int64_t, 4> blocks;  // in each of the four stages
};
constexpr ResNet resnet50_layout = {true, {3, 4, 6, 3}};
ValueId resnet_features(NetworkBuilder& b, const std::string& prefix, ValueId image, const ResNet& layout,
                        std::int64_t output_stride);

// Shared parts of nnU-Net's U-Nets (Isensee et al., "nnU-Net: a self-configuring method for deep
// learning-based biomedical image segmentation", 2021; residual encoder: "nnU-Net Revisited", 2024): filters,
// kernels and strides per level, their common block, and the decoder. Parameter names are those of MIC-DKFZ's
// dynamic-network-architectures.
// Kernel of a level's convolutions, with "same" padding; and that of its first one, which may be strided.
KernelAxes level_axes(const NetworkOptions& options, std::int64_t level);
KernelAxes strided_level_axes(const NetworkOptions& options, std::int64_t level);

// A row of the network table. Its check throws Exit::usage for kernels, strides or loss weights of levels
// that do not exist.
Network network_of_levels(const char* name, const char* meaning,
                          ValueId (*build)(NetworkBuilder&, ValueId, std::int64_t outputs));

// Convolution, instance norm, leaky ReLU. Parameters NAME.conv and NAME.norm.
ValueId level_block(NetworkBuilder& b, const std::string& name, ValueId x, std::int64_t channels,
                    const KernelAxes& axes);

// From the encoder's outputs, the largest first, to the logits, with `convolutions` per level.
ValueId decode(NetworkBuilder& b, const std::vector<ValueId>& skips, std::int64_t convolutions,
               std::int64_t outputs);

}  // namespace voxswap::net
