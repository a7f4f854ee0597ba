// The table of this backend: operation name -> maker of its kernel.
#pragma once

#include <memory>
#include <string_view>

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&);

Maker find_maker(const Operation& operation);  // null: this backend has none

// convolution.cpp, convolution_gradients.cpp: by oneDNN
std::unique_ptr<Kernel> make_conv3d(const Graph&, const Node&);
std::unique_ptr<Kernel> make_conv3d_sum(const Graph&, const Node&);
std::unique_ptr<Kernel> make_conv3d_data_gradient(const Graph&, const Node&);
std::unique_ptr<Kernel> make_conv3d_weight_gradient(const Graph&, const Node&);
// norm_sums.cpp
std::unique_ptr<Kernel> make_channel_sum(const Graph&, const Node&);
std::unique_ptr<Kernel> make_instance_norm_statistics(const Graph&, const Node&);
std::unique_ptr<Kernel> make_norm_activation_sums(const Graph&, const Node&);
std::unique_ptr<Kernel> make_channel_plane_sums(const Graph&, const Node&);
std::unique_ptr<Kernel> make_plane_moments(const Graph&, const Node&);
std::unique_ptr<Kernel> make_norm_activation_plane_sums(const Graph&, const Node&);
// norm.cpp
std::unique_ptr<Kernel> make_norm_activation(const Graph&, const Node&);
std::unique_ptr<Kernel> make_norm_activation_gradient(const Graph&, const Node&);
// elementwise.cpp
std::unique_ptr<Kernel> make_leaky_relu(const Graph&, const Node&);
std::unique_ptr<Kernel> make_leaky_relu_gradient(const Graph&, const Node&);
std::unique_ptr<Kernel> make_sigmoid(const Graph&, const Node&);
std::unique_ptr<Kernel> make_sigmoid_gradient(const Graph&, const Node&);
std::unique_ptr<Kernel> make_add(const Graph&, const Node&);
std::unique_ptr<Kernel> make_cast(const Graph&, const Node&);
// layout.cpp
std::unique_ptr<Kernel> make_concat(const Graph&, const Node&);
std::unique_ptr<Kernel> make_split(const Graph&, const Node&);
std::unique_ptr<Kernel> make_upsample_nearest(const Graph&, const Node&);
std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph&, const Node&);
std::unique_ptr<Kernel> make_max_pool(const Graph&, const Node&);
std::unique_ptr<Kernel> make_max_pool_gradient(const Graph&, const Node&);
// upsampled_convolution.cpp
std::unique_ptr<Kernel> make_upsampled_weights(const Graph&, const Node&);
std::unique_ptr<Kernel> make_upsampled_weights_gradient(const Graph&, const Node&);
std::unique_ptr<Kernel> make_interleave(const Graph&, const Node&);
std::unique_ptr<Kernel> make_interleave_gradient(const Graph&, const Node&);
// loss.cpp
std::unique_ptr<Kernel> make_loss_sums(const Graph&, const Node&);
std::unique_ptr<Kernel> make_loss_plane_sums(const Graph&, const Node&);
std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph&, const Node&);
// adam.cpp
std::unique_ptr<Kernel> make_adam(const Graph&, const Node&);

}  // namespace voxswap::net::onednn
