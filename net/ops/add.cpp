// Sum of two volumes. Not marked cheap, because it may overwrite either summand.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 2 && graph.value(inputs[0]).shape == graph.value(inputs[1]).shape);
  assert(graph.value(inputs[0]).type == graph.value(inputs[1]).type);
  return like(graph, inputs[0]);
}

std::vector<ValueId> gradient(Graph&, NodeId, std::span<const ValueId> output_gradients,
                              const std::vector<bool>& wanted) {
  return {wanted[0] ? output_gradients[0] : none, wanted[1] ? output_gradients[0] : none};
}

OperationCase example(std::string name, const Shape& shape) {
  return {std::move(name), {activation(shape), activation(shape)}, {}, {}};
}

}  // namespace

// a, b -> a + b; over a or b.
const Operation& add() {
  static const Operation operation = {
      "add",
      infer,
      gradient,
      per_element<1>,
      {{0, 0}, {0, 1}},
      /*cheap=*/false,
      planewise,
      {example("16 channels", {1, 4, 5, 6, 16}), example("odd channels, batch of two", {2, 3, 5, 7, 3}),
       example("one element", {1, 1, 1, 1, 1})}};
  return operation;
}

}  // namespace voxswap::net::ops
