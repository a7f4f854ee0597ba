// Sigmoid: logits to probabilities. The losses read logits instead, for accuracy.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("sigmoid_gradient", node.name + ".gradient", {node.outputs[0], output_gradients[0]})};
}

}  // namespace

// x -> y; over x.
const Operation& sigmoid() {
  static const Operation operation = {"sigmoid",
                                      like_first,
                                      gradient,
                                      per_element<4>,
                                      {{0, 0}},
                                      /*cheap=*/false,
                                      planewise,
                                      {{"3 labels", {activation({1, 4, 5, 6, 3})}, {}, {}},
                                       {"one label, batch of two", {activation({2, 3, 5, 7, 1})}, {}, {}}}};
  return operation;
}

// y, dy -> dy y (1 - y); over dy.
const Operation& sigmoid_gradient() {
  static const Operation operation = {
      "sigmoid_gradient",
      like_first,
      nullptr,
      per_element<3>,
      {{0, 1}},
      /*cheap=*/false,
      planewise,
      {{"3 labels", {activation({1, 4, 5, 6, 3}, Fill::positive), activation({1, 4, 5, 6, 3})}, {}, {}},
       {"one label, batch of two",
        {activation({2, 3, 5, 7, 1}, Fill::positive), activation({2, 3, 5, 7, 1})},
        {},
        {}}}};
  return operation;
}

}  // namespace voxswap::net::ops
