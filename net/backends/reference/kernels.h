// The reference backend's table: operation name -> routine.
//
// A routine is the operation's formula in plain loops over doubles. The kernel around it
// (reference_backend.cpp) reads every input into doubles first and rounds the outputs to their element type
// last, so routines know nothing of element types, are free to assume that nothing overlaps, and accumulate
// in double throughout.
#pragma once

#include <string_view>
#include <vector>

#include "net/backends/backend.h"

namespace voxswap::net::reference {

struct Array {
  double* data = nullptr;
  Shape shape;
};

// One execution of a node. Outputs hold anything on entry; updates hold their old values.
struct Call {
  std::vector<Array> inputs, outputs, updates;
  Attributes attributes;
  const StepContext* context = nullptr;
};

using Routine = void (*)(const Call&);

Routine find_routine(std::string_view operation);  // null: this backend has none

// Samples, voxels per sample and channels of an N,D,H,W,C shape.
struct Extents {
  std::int64_t samples, voxels, channels;
};
Extents extents(const Shape& shape);

// conv3d.cpp
void conv3d(const Call&);
void conv3d_sum(const Call&);
void conv3d_data_gradient(const Call&);
void conv3d_weight_gradient(const Call&);
void channel_sum(const Call&);
void channel_plane_sums(const Call&);
// norm_activation.cpp, with the statistics
void instance_norm_statistics(const Call&);
void plane_moments(const Call&);
void norm_activation(const Call&);
void norm_activation_sums(const Call&);
void norm_activation_plane_sums(const Call&);
void norm_activation_gradient(const Call&);
void norm_parameter_gradient(const Call&);
// elementwise.cpp
void spatial_dropout_scale(const Call&);
void leaky_relu(const Call&);
void leaky_relu_gradient(const Call&);
void sigmoid(const Call&);
void sigmoid_gradient(const Call&);
void add(const Call&);
void cast(const Call&);
void constant(const Call&);
// concat.cpp
void concat(const Call&);
void split(const Call&);
void zero_pad(const Call&);
// upsample.cpp
void upsample_nearest(const Call&);
void upsample_nearest_gradient(const Call&);
// upsampled_convolution.cpp
void upsampled_weights(const Call&);
void upsampled_weights_gradient(const Call&);
void interleave(const Call&);
void interleave_gradient(const Call&);
// max_pool.cpp
void max_pool(const Call&);
void max_pool_gradient(const Call&);
// loss.cpp
void loss_sums(const Call&);
void loss_plane_sums(const Call&);
void loss_value(const Call&);
void loss_value_gradient(const Call&);
void loss_sums_gradient(const Call&);
// loss_scale.cpp
void loss_scale_seed(const Call&);
void all_finite(const Call&);
void loss_scale_update(const Call&);
// plane_sums.cpp
void add_planes(const Call&);
void statistics_of_planes(const Call&);
void total(const Call&);
// adam.cpp
void adam(const Call&);

}  // namespace voxswap::net::reference
