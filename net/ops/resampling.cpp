// Resampling: upsampling by 2, subsampling of targets, and linear interpolation.
#include <algorithm>

#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Nearest-neighbour upsampling by 2 along each axis. The gradient is the sum over each 2x2x2 block.

namespace {

Specs infer_upsample(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  return {{{x[0], 2 * x[1], 2 * x[2], 2 * x[3], x[4]}, graph.value(inputs[0]).type}};
}

Specs infer_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& dy = shape_of(graph, inputs[0]);
  assert(dy[1] % 2 == 0 && dy[2] % 2 == 0 && dy[3] % 2 == 0);
  return {{{dy[0], dy[1] / 2, dy[2] / 2, dy[3] / 2, dy[4]}, graph.value(inputs[0]).type}};
}

Ids gradient_upsample(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  return {graph.apply("upsample_nearest_gradient", std::string(graph.node(id).name) + ".gradient",
                      {output_gradients[0]})};
}

}  // namespace

// x -> y with twice the sides.
const Operation& upsample_nearest() {
  static const Operation operation = {"upsample_nearest",
                                      infer_upsample,
                                      gradient_upsample,
                                      nullptr,
                                      windowed(window_upsample, 0, none, 2),
                                      {},
                                      /*cheap=*/true};
  return operation;
}

// dy -> dx: sum over each 2x2x2 block.
const Operation& upsample_nearest_gradient() {
  static const Operation operation = {"upsample_nearest_gradient", infer_gradient, nullptr, per_element<1>,
                                      windowed(window_of_blocks)};
  return operation;
}

// Targets for deep supervision at lower resolutions: the middle voxel of each block, as in PyTorch's
// interpolate() with mode nearest-exact. Targets are classes or bits, which cannot be averaged.

namespace {

Specs infer_subsample(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 && graph.value(inputs[0]).type == ElementType::u8);
  const Shape& x = shape_of(graph, inputs[0]);
  const std::int64_t d = attributes.integer("d"), h = attributes.integer("h"), w = attributes.integer("w");
  assert(x.rank() >= 4 && x[1] % d == 0 && x[2] % h == 0 && x[3] % w == 0);
  const Shape y = {x[0], x[1] / d, x[2] / h, x[3] / w};
  return {{x.rank() == 4 ? y : Shape{y[0], y[1], y[2], y[3], x[4]}, ElementType::u8}};
}

Cut::Window window(const Graph&, const Node& node, Planes made) {
  const std::int64_t block = node.attributes.integer("d");
  return {{block * made.from, block * made.to}, node.attributes};
}

}  // namespace

// x u8[N,D,H,W] -> y u8[N,D/d,H/h,W/w]: voxel d i + d / 2 along the depth, likewise along the other axes.
// With several bytes per voxel, both have a last axis for them. Attributes d, h, w.
const Operation& subsample() {
  static const Operation operation = {"subsample", infer_subsample, nullptr, nullptr, windowed(window),
                                      {},          /*cheap=*/true};
  return operation;
}

// Linear interpolation to other sides (bilinear for images), with voxel centres aligned as in PyTorch's
// interpolate() with align_corners=False; and its gradient.
//
// Along an axis, output o of n is at s = max((o + 1/2) side / n - 1/2, 0), between i = floor(s) and min(i +
// 1, side - 1), with weights 1 - (s - i) and s - i.

namespace {

Shape resized(const Shape& x, const Attributes& attributes) {
  return {x[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), x[4]};
}

Specs infer_resize_linear(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 5);
  const Shape to = resized(shape_of(graph, inputs[0]), attributes);
  assert(to.count() > 0);
  return {{to, graph.value(inputs[0]).type}};
}

Ids gradient_resize_linear(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  return {graph.apply("resize_linear_gradient", node.name + ".gradient", {output_gradients[0]},
                      {{"d", static_cast<double>(x[1])},
                       {"h", static_cast<double>(x[2])},
                       {"w", static_cast<double>(x[3])}})};
}

// Two operations for each of the eight neighbours of a voxel of the larger volume.
double flops(const Graph& graph, const Node& node) {
  const double larger = static_cast<double>(
      std::max(shape_of(graph, node.inputs[0]).count(), shape_of(graph, node.outputs[0]).count()));
  return 16 * larger;
}

}  // namespace

// x -> y with sides d, h, w. Attributes d, h, w (, x_depth, y_depth, x_first, y_first:
// net/graph/axes.h).
const Operation& resize_linear() {
  static const Operation operation = {"resize_linear", infer_resize_linear,     gradient_resize_linear,
                                      flops,           windowed(window_resize), {},
                                      /*cheap=*/true};
  return operation;
}

// dy -> dx: each element of dy is distributed with the weights of the interpolation. Attributes d, h, w (of
// dx) (, x_depth, y_depth, x_first, y_first).
const Operation& resize_linear_gradient() {
  static const Operation operation = {"resize_linear_gradient", infer_resize_linear, nullptr, flops,
                                      windowed(window_resize_gradient)};
  return operation;
}

}  // namespace voxswap::net::ops
