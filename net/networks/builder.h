// What the networks' files build with, and the rows of their table (networks.cpp).
//
// A network is built twice: once to learn its parameters, and then into the graph proper, where the
// parameters (and the optimiser's state, if any) come first. So persistent values have the same ids whatever
// is built on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "net/networks/network.h"

namespace voxswap::net {

// A convolution's bias is added, unless an instance norm is all that reads the result: that takes away the
// mean of every channel, and a constant is part of the mean. Such a bias is still a parameter, which
// checkpoints hold as it came, but no node reads it and training never changes it.
enum class Bias { added, taken_by_norm };

class NetworkBuilder {
 public:
  NetworkBuilder(Graph& into, const NetworkOptions& with, ElementType type, bool for_training)
      : graph(into), options(with), activations(type), training(for_training) {}

  // The images, N,D,H,W,C, stored with zeros behind the channels such that a voxel takes a multiple of
  // `voxel_alignment` bytes. Only convolutions read them: with weights that are as wide and zero there.
  ValueId add_image(const Shape& shape, std::int64_t voxel_alignment);
  // The parameter of that name, added to the graph when it is not there yet.
  ValueId parameter(const std::string& name, const Shape& shape);

  // Convolution, "same" padding: parameters NAME.weight and NAME.bias.
  ValueId convolution(const std::string& name, ValueId x, std::int64_t channels, std::int64_t kernel,
                      Bias bias, std::int64_t stride = 1);
  // The same, kernel 3, of the upsampled x, which is never made (ops/upsampled_convolution.cpp). REQUIRES: an
  // instance norm is all that reads the result.
  ValueId convolution_of_upsampled(const std::string& name, ValueId x, std::int64_t channels);
  // The same, kernel 3, over the channels of two volumes, as two convolutions that are summed: their
  // concatenation, the largest tensor of a U-Net, is never made, neither here nor in the backward pass. The
  // skip comes first and the volume from below is made in between: so in the backward pass everything below
  // it is done before the gradient of the skip is made, which has long to wait.
  struct Halves {
    ValueId of_skip = none,
            of_up = none;  // weights; NAME.weight holds them in the order that `skip_first` says
    ValueId sum = none;    // what the skip gives, with the bias if that is added
  };
  Halves convolution_of_skip(const std::string& name, ValueId skip, bool skip_first, std::int64_t up_channels,
                             std::int64_t channels, Bias bias);
  ValueId with_convolution_of_up(const std::string& name, const Halves& halves, ValueId up);
  // Transposed convolution with bias, kernel 2, stride 2: twice the sides.
  ValueId transposed_convolution(const std::string& name, ValueId x, std::int64_t channels);

  // Instance norm with parameters NAME.norm.weight and NAME.norm.bias, leaky ReLU, the optional factor per
  // channel and the optional residual.
  ValueId norm_activation(const std::string& name, ValueId x, ValueId scale = none, ValueId residual = none);
  // Factors of spatial dropout for a volume like x; none where there is no dropout.
  ValueId dropout_scale(const std::string& name, ValueId x);

  ValueId full_precision(const std::string& name, ValueId x);  // x itself where it is so already
  ValueId upsample(const std::string& name, ValueId x) { return graph.apply("upsample_nearest", name, {x}); }
  std::int64_t channels(ValueId x) const { return x == image_ ? image_channels_ : graph.value(x).shape[-1]; }
  ElementType full_type() const {
    return activations == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  }

  Graph& graph;
  const NetworkOptions& options;
  ElementType activations;
  bool training;

 private:
  // x, the weight as wide as x is stored, and the bias where it is added: the inputs of a convolution.
  std::vector<ValueId> operands(ValueId x, ValueId weight, const std::string& name, std::int64_t channels,
                                Bias bias);

  std::map<std::string, ValueId> parameters_;
  std::int64_t dropouts_ = 0;
  ValueId image_ = none;
  std::int64_t image_channels_ = 0;
};

struct Network {
  std::string name;
  std::int64_t least_depth, most_depth;
  bool halves;  // the sides from level to level: they are then multiples of 2^(depth - 1)
  void (*check)(const NetworkOptions& options);  // throws Exit::usage for what this network does not take
  ValueId (*build)(NetworkBuilder& builder, ValueId input, std::int64_t outputs);  // returns the logits
};
const Network& isensee2017();
const Network& unet3d();
const Network& resnet3d();

}  // namespace voxswap::net
