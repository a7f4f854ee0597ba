// Our own kernels: everything but convolutions. What they share: vectors of 16 bytes (elements.cuh), the cut
// of a volume among threads (rows.h, walk.cuh), sums that are the same every time (sums.cuh).
//
// They compute in f32, take f32, bf16 and f16 volumes, and have no workspace but partial sums.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// norm_sums.cu
std::unique_ptr<Kernel> make_channel_sum(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_instance_norm_statistics(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_norm_activation_sums(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_channel_plane_sums(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_plane_moments(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_norm_activation_plane_sums(const Graph&, const Node&, Device&);
// plane_sums.cu
std::unique_ptr<Kernel> make_add_planes(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_statistics_of_planes(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_total(const Graph&, const Node&, Device&);
// norm.cu
std::unique_ptr<Kernel> make_norm_activation(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_norm_activation_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_norm_parameter_gradient(const Graph&, const Node&, Device&);
// elementwise.cu
std::unique_ptr<Kernel> make_leaky_relu(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_leaky_relu_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_sigmoid(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_sigmoid_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_add(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_cast(const Graph&, const Node&, Device&);
// small.cu
std::unique_ptr<Kernel> make_constant(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_spatial_dropout_scale(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_loss_value(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_loss_value_gradient(const Graph&, const Node&, Device&);
// concat.cu
std::unique_ptr<Kernel> make_concat(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_split(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_zero_pad(const Graph&, const Node&, Device&);
// blocks.cu
std::unique_ptr<Kernel> make_upsample_nearest(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_max_pool(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_max_pool_gradient(const Graph&, const Node&, Device&);
// upsampled_convolution.cu
std::unique_ptr<Kernel> make_upsampled_weights(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_upsampled_weights_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_interleave(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_interleave_gradient(const Graph&, const Node&, Device&);
// loss.cu
std::unique_ptr<Kernel> make_loss_sums(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_loss_plane_sums(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph&, const Node&, Device&);
// loss_scale.cu
std::unique_ptr<Kernel> make_loss_scale_seed(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_all_finite(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_loss_scale_update(const Graph&, const Node&, Device&);
// adam.cu
std::unique_ptr<Kernel> make_adam(const Graph&, const Node&, Device&);

}  // namespace voxswap::net::cuda
