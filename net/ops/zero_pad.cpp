// Zero padding at the end of an axis: for the weights of a convolution whose input is stored with extra
// channels.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  assert(inputs.size() == 1);
  Shape shape = shape_of(graph, inputs[0]);
  const int axis = static_cast<int>(attributes.integer("axis"));
  const std::int64_t side = attributes.integer("side");
  assert(axis >= 0 && axis < static_cast<int>(shape.rank()) && side > shape[axis]);
  shape[axis] = side;
  return {{shape, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  const double axis = node.attributes.real("axis");
  const std::int64_t count = shape_of(graph, node.inputs[0])[static_cast<int>(axis)];
  const NodeId made = graph.add("split", node.name + ".split", {output_gradients[0]},
                                {{"axis", axis}, {"count", static_cast<double>(count)}});
  return {graph.node(made).outputs[0]};
}

OperationCase example(std::string name, Shape x, double axis, double side) {
  return {std::move(name), {activation(std::move(x))}, {{"axis", axis}, {"side", side}}, {}};
}

}  // namespace

// x -> x followed by zeros along an axis. Attributes axis, side (of the output).
const Operation& zero_pad() {
  static const Operation operation = {"zero_pad",
                                      infer,
                                      gradient,
                                      nullptr,
                                      {},
                                      /*cheap=*/true,
                                      planewise,
                                      {example("input channels of weights, 4 to 8", {16, 4, 3, 3, 3}, 1, 8),
                                       example("input channels of weights, odd", {3, 5, 1, 1, 1}, 1, 7),
                                       example("channels, odd, batch of two", {2, 3, 4, 5, 3}, 4, 8),
                                       example("samples", {2, 3, 4, 5, 3}, 0, 3)}};
  return operation;
}

}  // namespace voxswap::net::ops
