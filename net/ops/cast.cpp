// Conversion to another element type, rounding to nearest even.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  assert(inputs.size() == 1);
  return {{shape_of(graph, inputs[0]), static_cast<ElementType>(attributes.integer("type"))}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("cast", node.name + ".gradient", {output_gradients[0]},
                      {{"type", static_cast<double>(graph.value(node.inputs[0]).type)}})};
}

OperationCase to_f32(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {{"type", double(ElementType::f32)}}, {}};
}

}  // namespace

// x -> y of another type. Attribute type (the enum's number).
const Operation& cast() {
  static const Operation operation = {
      "cast",
      infer,
      gradient,
      nullptr,
      {},
      /*cheap=*/true,
      planewise,
      {to_f32("3 channels to f32", {1, 5, 6, 7, 3}), to_f32("16 channels, batch of two", {2, 3, 4, 5, 16})}};
  return operation;
}

}  // namespace voxswap::net::ops
