#include "net/backends/cuda/own_kernels.h"

#include <array>

#include "base/error.h"
#include "net/backends/cuda/kernels.h"

namespace voxswap::net::cuda {

namespace {

struct Row {
  std::string_view operation;
  Maker maker;
};

constexpr std::array table = {
    Row{"channel_sum", make_channel_sum},
    Row{"instance_norm_statistics", make_instance_norm_statistics},
    Row{"norm_activation_sums", make_norm_activation_sums},
    Row{"norm_activation", make_norm_activation},
    Row{"norm_activation_gradient", make_norm_activation_gradient},
    Row{"norm_parameter_gradient", make_norm_parameter_gradient},
    Row{"leaky_relu", make_leaky_relu},
    Row{"leaky_relu_gradient", make_leaky_relu_gradient},
    Row{"sigmoid", make_sigmoid},
    Row{"sigmoid_gradient", make_sigmoid_gradient},
    Row{"add", make_add},
    Row{"cast", make_cast},
    Row{"constant", make_constant},
    Row{"spatial_dropout_scale", make_spatial_dropout_scale},
    Row{"loss_value", make_loss_value},
    Row{"loss_value_gradient", make_loss_value_gradient},
    Row{"concat", make_concat},
    Row{"split", make_split},
    Row{"zero_pad", make_zero_pad},
    Row{"upsample_nearest", make_upsample_nearest},
    Row{"upsample_nearest_gradient", make_upsample_nearest_gradient},
    Row{"max_pool", make_max_pool},
    Row{"max_pool_gradient", make_max_pool_gradient},
    Row{"upsampled_weights", make_upsampled_weights},
    Row{"upsampled_weights_gradient", make_upsampled_weights_gradient},
    Row{"interleave", make_interleave},
    Row{"interleave_gradient", make_interleave_gradient},
    Row{"loss_sums", make_loss_sums},
    Row{"loss_sums_gradient", make_loss_sums_gradient},
    Row{"loss_scale_seed", make_loss_scale_seed},
    Row{"all_finite", make_all_finite},
    Row{"loss_scale_update", make_loss_scale_update},
    Row{"adam", make_adam},
    Row{"channel_plane_sums", make_channel_plane_sums},
    Row{"plane_moments", make_plane_moments},
    Row{"norm_activation_plane_sums", make_norm_activation_plane_sums},
    Row{"loss_plane_sums", make_loss_plane_sums},
    Row{"add_planes", make_add_planes},
    Row{"statistics_of_planes", make_statistics_of_planes},
    Row{"total", make_total},
};

}  // namespace

Maker find_own_maker(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.maker;
  }
  return nullptr;
}

void fail_for_type(std::string_view where, ElementType type) {
  fail(Exit::failed, "{}: the CUDA backend computes in f32, bf16 and f16, not in {}", where,
       element_name(type));
}

void need_f32(std::string_view where, ElementType type) {
  if (type != ElementType::f32)
    fail(Exit::failed, "{}: the CUDA backend keeps sums and parameters in f32, not in {}", where,
         element_name(type));
}

}  // namespace voxswap::net::cuda
