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

std::vector<ValueSpec> infer_concat(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const Attributes& attributes) {
  assert(inputs.size() == 2 && graph.value(inputs[0]).type == graph.value(inputs[1]).type);
  const int axis = axis_of(attributes);
  const Shape &a = shape_of(graph, inputs[0]), &b = shape_of(graph, inputs[1]);
  assert(axis >= 0 && axis < static_cast<int>(a.rank()) && with_side(a, axis, b[axis]) == b);
  return {{with_side(a, axis, a[axis] + b[axis]), graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_split(const Graph& graph, const std::vector<ValueId>& inputs,
                                   const Attributes& attributes) {
  assert(inputs.size() == 1);
  const int axis = axis_of(attributes);
  const Shape& x = shape_of(graph, inputs[0]);
  const std::int64_t count = attributes.integer("count");
  assert(axis >= 0 && axis < static_cast<int>(x.rank()) && count > 0 && count < x[axis]);
  const ElementType type = graph.value(inputs[0]).type;
  return {{with_side(x, axis, count), type}, {with_side(x, axis, x[axis] - count), type}};
}

std::vector<ValueId> gradient_concat(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                     const std::vector<bool>&) {
  const Node node = graph.node(id);
  Attributes attributes = node.attributes;
  const Shape& a = shape_of(graph, node.inputs[0]);
  attributes.set("count", static_cast<double>(a[axis_of(attributes)]));
  const NodeId made = graph.add("split", node.name + ".split", {output_gradients[0]}, attributes);
  return graph.node(made).outputs;
}

std::vector<ValueId> gradient_split(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                    const std::vector<bool>&) {
  const Node node = graph.node(id);
  assert(output_gradients[0] != none && output_gradients[1] != none && "both parts are used");
  return {graph.apply("concat", node.name + ".concat", {output_gradients[0], output_gradients[1]},
                      {{"axis", node.attributes.real("axis")}})};
}

OperationCase concat_case(std::string name, const Shape& a, int axis, std::int64_t side) {
  return {std::move(name),
          {activation(a), activation(with_side(a, axis, side))},
          {{"axis", static_cast<double>(axis)}},
          {}};
}

OperationCase split_case(std::string name, Shape x, int axis, double count) {
  return {std::move(name),
          {activation(std::move(x))},
          {{"axis", static_cast<double>(axis)}, {"count", count}},
          {}};
}

}  // namespace

// a, b -> a and b concatenated along an axis. Attribute axis.
const Operation& concat() {
  static const Operation operation = {"concat",
                                      infer_concat,
                                      gradient_concat,
                                      nullptr,
                                      {},
                                      /*cheap=*/true,
                                      planewise,
                                      {concat_case("odd channels, batch of two", {2, 3, 4, 5, 3}, 4, 5),
                                       concat_case("channels, 16 and 16", {1, 5, 6, 7, 16}, 4, 16),
                                       concat_case("channels, one and 32", {1, 2, 3, 5, 1}, 4, 32),
                                       concat_case("input channels of weights", {16, 16, 3, 3, 3}, 1, 16),
                                       concat_case("input channels of weights, odd", {3, 5, 1, 1, 1}, 1, 2),
                                       concat_case("samples", {2, 3, 4, 5, 3}, 0, 1)}};
  return operation;
}

// x -> its first `count` entries along an axis, and the rest. Attributes axis, count.
const Operation& split() {
  static const Operation operation = {"split",
                                      infer_split,
                                      gradient_split,
                                      nullptr,
                                      {},
                                      /*cheap=*/true,
                                      planewise,
                                      {split_case("channels in half", {1, 5, 6, 7, 32}, 4, 16),
                                       split_case("odd channels, batch of two", {2, 3, 4, 5, 8}, 4, 3),
                                       split_case("all but one channel", {1, 3, 2, 5, 5}, 4, 4),
                                       split_case("input channels of weights", {16, 32, 3, 3, 3}, 1, 16),
                                       split_case("input channels of weights, odd", {3, 7, 1, 1, 1}, 1, 5),
                                       split_case("samples", {3, 3, 4, 5, 3}, 0, 2)}};
  return operation;
}

// Zero padding at the end of an axis: for the weights of a convolution whose input is stored with extra
// channels.

namespace {

std::vector<ValueSpec> infer_zero_pad(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 1);
  Shape shape = shape_of(graph, inputs[0]);
  const int axis = static_cast<int>(attributes.integer("axis"));
  const std::int64_t side = attributes.integer("side");
  assert(axis >= 0 && axis < static_cast<int>(shape.rank()) && side > shape[axis]);
  shape[axis] = side;
  return {{shape, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient_zero_pad(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                       const std::vector<bool>&) {
  const Node node = graph.node(id);
  const double axis = node.attributes.real("axis");
  const std::int64_t count = shape_of(graph, node.inputs[0])[static_cast<int>(axis)];
  const NodeId made = graph.add("split", node.name + ".split", {output_gradients[0]},
                                {{"axis", axis}, {"count", static_cast<double>(count)}});
  return {graph.node(made).outputs[0]};
}

OperationCase zero_pad_case(std::string name, Shape x, double axis, double side) {
  return {std::move(name), {activation(std::move(x))}, {{"axis", axis}, {"side", side}}, {}};
}

}  // namespace

// x -> x followed by zeros along an axis. Attributes axis, side (of the output).
const Operation& zero_pad() {
  static const Operation operation = {
      "zero_pad",
      infer_zero_pad,
      gradient_zero_pad,
      nullptr,
      {},
      /*cheap=*/true,
      planewise,
      {zero_pad_case("input channels of weights, 4 to 8", {16, 4, 3, 3, 3}, 1, 8),
       zero_pad_case("input channels of weights, odd", {3, 5, 1, 1, 1}, 1, 7),
       zero_pad_case("channels, odd, batch of two", {2, 3, 4, 5, 3}, 4, 8),
       zero_pad_case("samples", {2, 3, 4, 5, 3}, 0, 3)}};
  return operation;
}

}  // namespace voxswap::net::ops
