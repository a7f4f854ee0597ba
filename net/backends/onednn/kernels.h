// This backend's table: operation name -> function that makes its kernel.
#pragma once

#include <memory>
#include <string_view>

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&);

Maker find_maker(const Operation& operation);

// Operations with kernels in this folder. All others work on a few numbers, so the reference backend computes
// them.
#define VOXSWAP_ONEDNN_KERNELS(X) \
  X(conv3d)                       \
  X(conv3d_sum)                   \
  X(conv3d_data_gradient)         \
  X(conv3d_weight_gradient)       \
  X(channel_sum)                  \
  X(instance_norm_statistics)     \
  X(norm_activation)              \
  X(norm_activation_sums)         \
  X(norm_activation_gradient)     \
  X(leaky_relu)                   \
  X(leaky_relu_gradient)          \
  X(sigmoid)                      \
  X(sigmoid_gradient)             \
  X(add)                          \
  X(cast)                         \
  X(concat)                       \
  X(split)                        \
  X(upsample_nearest)             \
  X(upsample_nearest_gradient)    \
  X(upsampled_weights)            \
  X(upsampled_weights_gradient)   \
  X(interleave)                   \
  X(interleave_gradient)          \
  X(max_pool)                     \
  X(max_pool_gradient)            \
  X(sliding_max_pool)             \
  X(sliding_max_pool_gradient)    \
  X(average_pool)                 \
  X(average_pool_gradient)        \
  X(resize_linear)                \
  X(resize_linear_gradient)       \
  X(subsample)                    \
  X(softmax)                      \
  X(loss_sums)                    \
  X(loss_sums_gradient)           \
  X(softmax_loss_sums)            \
  X(softmax_loss_sums_gradient)   \
  X(sum_of_squares)               \
  X(adam)                         \
  X(sgd)                          \
  X(channel_plane_sums)           \
  X(plane_moments)                \
  X(norm_activation_plane_sums)   \
  X(loss_plane_sums)              \
  X(softmax_loss_plane_sums)      \
  X(total)

#define DECLARE(operation) std::unique_ptr<Kernel> make_##operation(const Graph&, const Node&);
VOXSWAP_ONEDNN_KERNELS(DECLARE)
#undef DECLARE

std::unique_ptr<Kernel> by_reference(const Graph&, const Node&);

}  // namespace voxswap::net::onednn
