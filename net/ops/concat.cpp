// Concatenation, split and zero padding along an axis.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Concatenation along an axis, and split, its inverse. Each is the other's gradient. Applied to weights,
// split gives a convolution over two volumes the part for one volume's input channels (conv3d_sum).

namespace {

Shape with_side(Shape shape, int axis, std::int64_t side) {
  shape[axis] = side;
  return shape;
}

int axis_of(const Attributes& attributes) {
  return static_cast<int>(attributes.integer("axis"));
}

Specs infer_concat(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2 && graph.value(inputs[0]).type == graph.value(inputs[1]).type);
  const int axis = axis_of(attributes);
  const Shape &a = shape_of(graph, inputs[0]), &b = shape_of(graph, inputs[1]);
  assert(axis >= 0 && axis < static_cast<int>(a.rank()) && with_side(a, axis, b[axis]) == b);
  return {{with_side(a, axis, a[axis] + b[axis]), graph.value(inputs[0]).type}};
}

Specs infer_split(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1);
  const int axis = axis_of(attributes);
  const Shape& x = shape_of(graph, inputs[0]);
  const std::int64_t count = attributes.integer("count");
  assert(axis >= 0 && axis < static_cast<int>(x.rank()) && count > 0 && count < x[axis]);
  const ElementType type = graph.value(inputs[0]).type;
  return {{with_side(x, axis, count), type}, {with_side(x, axis, x[axis] - count), type}};
}

Ids gradient_concat(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  Attributes attributes = node.attributes;
  const Shape& a = shape_of(graph, node.inputs[0]);
  attributes.set("count", static_cast<double>(a[axis_of(attributes)]));
  const NodeId made = graph.add("split", node.name + ".split", {output_gradients[0]}, attributes);
  return graph.node(made).outputs;
}

Ids gradient_split(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  assert(output_gradients[0] != none && output_gradients[1] != none && "both parts are used");
  return {graph.apply("concat", node.name + ".concat", {output_gradients[0], output_gradients[1]},
                      {{"axis", node.attributes.real("axis")}})};
}

}  // namespace

// a, b -> a and b concatenated along an axis. Attribute axis.
const Operation& concat() {
  static const Operation operation = {"concat",  infer_concat, gradient_concat, nullptr,
                                      planewise, {},           /*cheap=*/true};
  return operation;
}

// x -> its first `count` entries along an axis, and the rest. Attributes axis, count.
const Operation& split() {
  static const Operation operation = {"split",   infer_split, gradient_split, nullptr,
                                      planewise, {},          /*cheap=*/true};
  return operation;
}

// Zero padding at the end of an axis: for the weights of a convolution whose input is stored with extra
// channels.

namespace {

Specs infer_zero_pad(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1);
  Shape shape = shape_of(graph, inputs[0]);
  const int axis = static_cast<int>(attributes.integer("axis"));
  const std::int64_t side = attributes.integer("side");
  assert(axis >= 0 && axis < static_cast<int>(shape.rank()) && side > shape[axis]);
  shape[axis] = side;
  return {{shape, graph.value(inputs[0]).type}};
}

Ids gradient_zero_pad(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  const double axis = node.attributes.real("axis");
  const std::int64_t count = shape_of(graph, node.inputs[0])[static_cast<int>(axis)];
  const NodeId made = graph.add("split", node.name + ".split", {output_gradients[0]},
                                {{"axis", axis}, {"count", static_cast<double>(count)}});
  return {graph.node(made).outputs[0]};
}

}  // namespace

// x -> x followed by zeros along an axis. Attributes axis, side (of the output).
const Operation& zero_pad() {
  static const Operation operation = {"zero_pad", infer_zero_pad, gradient_zero_pad, nullptr, planewise,
                                      {},         /*cheap=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
