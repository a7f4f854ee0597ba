// Pooling: the global average, the maximum of blocks, and the maximum under a sliding kernel.
#include "net/graph/axes.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Global average pooling, for classifiers, and the broadcast of one voxel to a whole volume. Each is the
// other's gradient.

namespace {

Specs infer_average_pool(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 && attributes.real("voxels") > 0);
  static_cast<void>(attributes);
  const Shape& x = shape_of(graph, inputs[0]);
  return {{{x[0], 1, 1, 1, x[4]}, graph.value(inputs[0]).type}};
}

Specs infer_average_pool_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 && attributes.real("voxels") > 0);
  const Shape& dy = shape_of(graph, inputs[0]);
  assert(dy.rank() == 5 && voxels(dy) == 1);
  return {{{dy[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), dy[4]},
           graph.value(inputs[0]).type}};
}

Ids gradient_average_pool(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  return {graph.apply("average_pool_gradient", node.name + ".gradient", {output_gradients[0]},
                      {{"d", static_cast<double>(x[1])},
                       {"h", static_cast<double>(x[2])},
                       {"w", static_cast<double>(x[3])},
                       {"voxels", node.attributes.real("voxels")}})};
}

Ids gradient_of_gradient(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("average_pool", node.name + ".gradient", {output_gradients[0]},
                      {{"voxels", node.attributes.real("voxels")}})};
}

double flops_of_gradient(const Graph& graph, const Node& node) {
  return static_cast<double>(shape_of(graph, node.outputs[0]).count());
}

}  // namespace

// x -> [N,1,1,1,C]: the sum over D,H,W, over `voxels`; plane after plane, in double.
const Operation& average_pool() {
  static const Operation operation = {"average_pool", infer_average_pool, gradient_average_pool,
                                      per_element<1>, summed("channel_plane_sums", "mean_of_planes")};
  return operation;
}

// dy[N,1,1,1,C] -> dx: dy / `voxels` everywhere. Attributes d, h, w (of dx), voxels.
const Operation& average_pool_gradient() {
  static const Operation operation = {"average_pool_gradient", infer_average_pool_gradient,
                                      gradient_of_gradient, flops_of_gradient, spread(window_spread)};
  return operation;
}

// Maximum over blocks of 2x2x2. The gradient goes to the first maximum in scan order, so that ties have the
// same result on every backend.

namespace {

Shape max_pool_sides(const Shape& x) {
  assert(x.rank() == 5 && x[1] % 2 == 0 && x[2] % 2 == 0 && x[3] % 2 == 0);
  return {x[0], x[1] / 2, x[2] / 2, x[3] / 2, x[4]};
}

Specs infer_max_pool(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  return {{max_pool_sides(shape_of(graph, inputs[0])), graph.value(inputs[0]).type}};
}

Specs infer_max_pool_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 2 && max_pool_sides(shape_of(graph, inputs[0])) == shape_of(graph, inputs[1]));
  return like(graph, inputs[0]);
}

Ids gradient_max_pool(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("max_pool_gradient", node.name + ".gradient", {node.inputs[0], output_gradients[0]})};
}

}  // namespace

// x -> y with half the sides; kernel 2x2x2, stride 2.
const Operation& max_pool() {
  static const Operation operation = {
      "max_pool", infer_max_pool, gradient_max_pool, per_element<1>, windowed(window_of_blocks),
      {},         /*cheap=*/true};
  return operation;
}

// x, dy -> dx: dy goes to the first maximum in scan order (z, y, x).
const Operation& max_pool_gradient() {
  static const Operation operation = {"max_pool_gradient", infer_max_pool_gradient, nullptr, per_element<1>,
                                      windowed(window_upsample, 1, 0, 2)};
  return operation;
}

// Max pooling with a sliding kernel, whose positions may overlap and reach into the padding, which is ignored
// (ResNet: 3x3, stride 2, padding 1). max_pool handles non-overlapping blocks.
//
// It also outputs the tap of each maximum. The gradient needs only that, neither x nor y.

namespace {

Shape sliding_max_pool_sides(const Shape& x, const Attributes& attributes) {
  assert(x.rank() == 5);
  const KernelAxes axes = kernel_axes(attributes);
  for (const KernelAxis& axis : axes) assert(axis.dilation == 1);
  assert(taps(axes) <= 256);
  return output_shape(x, axes, x[4]);
}

Specs infer_sliding_max_pool(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1);
  for (const KernelAxis& axis : kernel_axes(attributes)) assert(axis.before < axis.kernel);
  const Shape y = sliding_max_pool_sides(shape_of(graph, inputs[0]), attributes);
  return {{y, graph.value(inputs[0]).type}, {y, ElementType::u8}};
}

Shape unpooled(const Shape& y, const Attributes& attributes) {
  return {y[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), y[4]};
}

Specs infer_sliding_max_pool_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2 && shape_of(graph, inputs[0]) == shape_of(graph, inputs[1]));
  assert(graph.value(inputs[1]).type == ElementType::u8);
  const Shape x = unpooled(shape_of(graph, inputs[0]), attributes);
  assert(sliding_max_pool_sides(x, attributes) == shape_of(graph, inputs[0]));
  return {{x, graph.value(inputs[0]).type}};
}

Ids gradient_sliding_max_pool(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  Attributes attributes = node.attributes;
  attributes.set("d", static_cast<double>(x[1]));
  attributes.set("h", static_cast<double>(x[2]));
  attributes.set("w", static_cast<double>(x[3]));
  return {graph.apply("sliding_max_pool_gradient", node.name + ".gradient",
                      {output_gradients[0], node.outputs[1]}, attributes)};
}

double flops(const Graph& graph, const Node& node) {
  const double taps_of_all = static_cast<double>(taps(kernel_axes(node.attributes)));
  const ValueId y = node.operation->name == "sliding_max_pool" ? node.outputs[0] : node.inputs[0];
  return taps_of_all * static_cast<double>(shape_of(graph, y).count());
}

}  // namespace

// x -> y, taps u8: the maximum over the taps inside the volume, and the number of the first tap with that
// value, in scan order (z, y, x) over the whole kernel. Attributes kernel, stride, padding, for all axes or
// per axis (net/graph/axes.h). REQUIRES: padding < kernel, at most 256 taps.
const Operation& sliding_max_pool() {
  static const Operation operation = {
      "sliding_max_pool", infer_sliding_max_pool, gradient_sliding_max_pool, flops, windowed(window_pool), {},
      /*cheap=*/true};
  return operation;
}

// dy, taps u8 -> dx[N,d,h,w,C]: each element of dy is added at the position of its tap, if that is inside.
// Attributes as sliding_max_pool, and d, h, w (of dx).
const Operation& sliding_max_pool_gradient() {
  static const Operation operation = {"sliding_max_pool_gradient", infer_sliding_max_pool_gradient, nullptr,
                                      flops, windowed_pair(window_unpool, 0)};
  return operation;
}

}  // namespace voxswap::net::ops
