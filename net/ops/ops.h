// The operations, one function per row of the table in ops.cpp, and what their files share.
#pragma once

#include <cassert>
#include <utility>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net::ops {

const Operation& conv3d();
const Operation& conv3d_sum();
const Operation& conv3d_data_gradient();
const Operation& conv3d_weight_gradient();
const Operation& channel_sum();
const Operation& instance_norm_statistics();
const Operation& norm_activation();
const Operation& norm_activation_sums();
const Operation& norm_activation_gradient();
const Operation& norm_parameter_gradient();
const Operation& spatial_dropout_scale();
const Operation& leaky_relu();
const Operation& leaky_relu_gradient();
const Operation& add();
const Operation& concat();
const Operation& split();
const Operation& zero_pad();
const Operation& upsample_nearest();
const Operation& upsample_nearest_gradient();
const Operation& upsampled_weights();
const Operation& upsampled_weights_gradient();
const Operation& interleave();
const Operation& interleave_gradient();
const Operation& max_pool();
const Operation& max_pool_gradient();
const Operation& sigmoid();
const Operation& sigmoid_gradient();
const Operation& cast();
const Operation& constant();
const Operation& loss_sums();
const Operation& loss_value();
const Operation& loss_value_gradient();
const Operation& loss_sums_gradient();
const Operation& loss_scale_seed();
const Operation& all_finite();
const Operation& loss_scale_update();
const Operation& adam();

// Operations on windows (windowed.cpp), of conv3d to max_pool_gradient.
template <const Operation& (*inner)()>
const Operation& windowed();
// plane_sums.cpp
const Operation& channel_plane_sums();
const Operation& plane_moments();
const Operation& norm_activation_plane_sums();
const Operation& loss_plane_sums();
const Operation& add_planes();
const Operation& statistics_of_planes();
const Operation& total();

// How operations are cut (net/graph/operation.h).
constexpr Cut whole{};
constexpr Cut planewise{.kind = Cut::Kind::planewise};
constexpr Cut windowed(Cut::Window (*window)(const Graph&, const Node&, Planes), int input = 0,
                       int along = none, std::int64_t grain = 1) {
  return {.kind = Cut::Kind::windowed, .window = window, .input = input, .along = along, .grain = grain};
}
constexpr Cut windowed_sum(Cut::Window (*window)(const Graph&, const Node&, Planes), int input, int along) {
  return {.kind = Cut::Kind::windowed_sum, .window = window, .input = input, .along = along};
}
constexpr Cut summed(std::string_view partial, std::string_view total) {
  return {.kind = Cut::Kind::summed, .partial = partial, .total = total};
}

// Shorthands for cases.
using Input = OperationCase::Input;
inline Input activation(Shape shape, Fill fill = Fill::normal) {
  return {std::move(shape), fill, Input::Kind::activation};
}
inline Input full(Shape shape, Fill fill = Fill::normal) {
  return {std::move(shape), fill, Input::Kind::full};
}
inline Input bits(Shape shape) {
  return {std::move(shape), Fill::bits, Input::Kind::bits};
}

// The type of statistics, sums and parameters beside an activation.
inline ElementType full_type(ElementType activation_type) {
  return activation_type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}
inline ElementType full_type(const Graph& graph, ValueId id) {
  return full_type(graph.value(id).type);
}

inline const Shape& shape_of(const Graph& graph, ValueId id) {
  return graph.value(id).shape;
}

// D * H * W of N,D,H,W,C.
inline std::int64_t voxels(const Shape& shape) {
  return shape[1] * shape[2] * shape[3];
}

inline std::vector<ValueSpec> like(const Graph& graph, ValueId id) {
  return {{graph.value(id).shape, graph.value(id).type}};
}
// For operations whose output is like their first input.
inline std::vector<ValueSpec> like_first(const Graph& graph, const std::vector<ValueId>& inputs,
                                         const Attributes&) {
  return like(graph, inputs[0]);
}

// `Count` operations per element of the first input.
template <int Count>
double per_element(const Graph& graph, const Node& node) {
  return Count * static_cast<double>(graph.value(node.inputs[0]).shape.count());
}

}  // namespace voxswap::net::ops
