// The table of the reference backend's routines.
#include "net/backends/reference/kernels.h"

#include <array>

namespace voxswap::net::reference {

namespace {

struct Row {
  std::string_view operation;
  Routine routine;
};

constexpr std::array table = {
    Row{"conv3d", conv3d},
    Row{"conv3d_sum", conv3d_sum},
    Row{"conv3d_data_gradient", conv3d_data_gradient},
    Row{"conv3d_weight_gradient", conv3d_weight_gradient},
    Row{"channel_sum", channel_sum},
    Row{"instance_norm_statistics", instance_norm_statistics},
    Row{"norm_activation", norm_activation},
    Row{"norm_activation_sums", norm_activation_sums},
    Row{"norm_activation_gradient", norm_activation_gradient},
    Row{"norm_parameter_gradient", norm_parameter_gradient},
    Row{"spatial_dropout_scale", spatial_dropout_scale},
    Row{"leaky_relu", leaky_relu},
    Row{"leaky_relu_gradient", leaky_relu_gradient},
    Row{"sigmoid", sigmoid},
    Row{"sigmoid_gradient", sigmoid_gradient},
    Row{"add", add},
    Row{"cast", cast},
    Row{"constant", constant},
    Row{"concat", concat},
    Row{"split", split},
    Row{"zero_pad", zero_pad},
    Row{"upsample_nearest", upsample_nearest},
    Row{"upsample_nearest_gradient", upsample_nearest_gradient},
    Row{"upsampled_weights", upsampled_weights},
    Row{"upsampled_weights_gradient", upsampled_weights_gradient},
    Row{"interleave", interleave},
    Row{"interleave_gradient", interleave_gradient},
    Row{"max_pool", max_pool},
    Row{"max_pool_gradient", max_pool_gradient},
    Row{"loss_sums", loss_sums},
    Row{"loss_value", loss_value},
    Row{"loss_value_gradient", loss_value_gradient},
    Row{"loss_sums_gradient", loss_sums_gradient},
    Row{"loss_scale_seed", loss_scale_seed},
    Row{"all_finite", all_finite},
    Row{"loss_scale_update", loss_scale_update},
    Row{"adam", adam},
    Row{"channel_plane_sums", channel_plane_sums},
    Row{"plane_moments", plane_moments},
    Row{"norm_activation_plane_sums", norm_activation_plane_sums},
    Row{"loss_plane_sums", loss_plane_sums},
    Row{"add_planes", add_planes},
    Row{"statistics_of_planes", statistics_of_planes},
    Row{"total", total},
};

}  // namespace

Routine find_routine(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.routine;
  }
  return nullptr;
}

Extents extents(const Shape& shape) {
  const std::int64_t samples = shape[0], channels = shape[-1];
  return {samples, shape.count() / (samples * channels), channels};
}

}  // namespace voxswap::net::reference
