// The table of this backend. Operations on a handful of numbers are the reference backend's: they cost
// nothing.
#include "net/backends/onednn/kernels.h"

#include <array>

#include "net/backends/onednn/copies.h"
#include "net/backends/reference/reference_backend.h"
#include "net/backends/windowed.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

std::unique_ptr<Kernel> by_reference(const Graph& graph, const Node& node) {
  return make_reference_backend()->compile(graph, node);
}

// Loss scaling belongs to f16, which this backend has not got.
std::unique_ptr<Kernel> adam(const Graph& graph, const Node& node) {
  const bool scaled = node.inputs.size() > node.updates.size() / 3;
  return scaled ? by_reference(graph, node) : make_adam(graph, node);
}

struct Row {
  std::string_view operation;
  Maker maker;
};

constexpr std::array table = {
    Row{"conv3d", make_conv3d},
    Row{"conv3d_sum", make_conv3d_sum},
    Row{"conv3d_data_gradient", make_conv3d_data_gradient},
    Row{"conv3d_weight_gradient", make_conv3d_weight_gradient},
    Row{"channel_sum", make_channel_sum},
    Row{"instance_norm_statistics", make_instance_norm_statistics},
    Row{"norm_activation", make_norm_activation},
    Row{"norm_activation_sums", make_norm_activation_sums},
    Row{"norm_activation_gradient", make_norm_activation_gradient},
    Row{"norm_parameter_gradient", by_reference},
    Row{"spatial_dropout_scale", by_reference},
    Row{"leaky_relu", make_leaky_relu},
    Row{"leaky_relu_gradient", make_leaky_relu_gradient},
    Row{"sigmoid", make_sigmoid},
    Row{"sigmoid_gradient", make_sigmoid_gradient},
    Row{"add", make_add},
    Row{"cast", make_cast},
    Row{"constant", by_reference},
    Row{"concat", make_concat},
    Row{"split", make_split},
    Row{"zero_pad", by_reference},
    Row{"upsample_nearest", make_upsample_nearest},
    Row{"upsample_nearest_gradient", make_upsample_nearest_gradient},
    Row{"upsampled_weights", make_upsampled_weights},
    Row{"upsampled_weights_gradient", make_upsampled_weights_gradient},
    Row{"interleave", make_interleave},
    Row{"interleave_gradient", make_interleave_gradient},
    Row{"max_pool", make_max_pool},
    Row{"max_pool_gradient", make_max_pool_gradient},
    Row{"loss_sums", make_loss_sums},
    Row{"loss_value", by_reference},
    Row{"loss_value_gradient", by_reference},
    Row{"loss_sums_gradient", make_loss_sums_gradient},
    Row{"loss_scale_seed", by_reference},
    Row{"all_finite", by_reference},
    Row{"loss_scale_update", by_reference},
    Row{"adam", adam},
    Row{"channel_plane_sums", make_channel_plane_sums},
    Row{"plane_moments", make_plane_moments},
    Row{"norm_activation_plane_sums", make_norm_activation_plane_sums},
    Row{"loss_plane_sums", make_loss_plane_sums},
    Row{"add_planes", by_reference},
    Row{"statistics_of_planes", by_reference},
    Row{"total", by_reference},
};

}  // namespace

namespace {

std::unique_ptr<Kernel> make_on_windows(const Graph& graph, const Node& node) {
  const auto compile = [](const Graph& inner, const Node& of) {
    return find_maker(*of.operation)(inner, of);
  };
  return make_windowed(graph, node, {compile, copy});
}

}  // namespace

Maker find_maker(const Operation& operation) {
  if (operation.inner != nullptr) return make_on_windows;
  for (const Row& row : table) {
    if (row.operation == operation.name) return row.maker;
  }
  return nullptr;
}

}  // namespace voxswap::net::onednn
