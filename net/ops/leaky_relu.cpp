// Leaky ReLU without a norm. Its gradient needs only the output. Not marked cheap: it may overwrite its
// input, so keeping the output costs no more memory than keeping the input.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("leaky_relu_gradient", node.name + ".gradient", {node.outputs[0], output_gradients[0]},
                      node.attributes)};
}

std::vector<OperationCase> cases(std::size_t volumes) {
  std::vector<OperationCase> result;
  const auto add_case = [&](std::string name, const Shape& shape, double slope) {
    result.push_back(
        {std::move(name), std::vector<Input>(volumes, activation(shape)), {{"slope", slope}}, {}});
  };
  add_case("ReLU, 16 channels", {1, 4, 5, 6, 16}, 0);
  add_case("odd channels, batch of two", {2, 3, 5, 7, 3}, 0.3);
  add_case("one element", {1, 1, 1, 1, 1}, 0.01);
  return result;
}

}  // namespace

// x -> y; over x. Attribute slope (0: ReLU).
const Operation& leaky_relu() {
  static const Operation operation = {"leaky_relu",    like_first, gradient, per_element<1>, {{0, 0}},
                                      /*cheap=*/false, planewise,  cases(1)};
  return operation;
}

// y, dy -> dx; over dy. y > 0 ? dy : slope dy.
const Operation& leaky_relu_gradient() {
  static const Operation operation = {"leaky_relu_gradient", like_first, nullptr, per_element<1>, {{0, 1}},
                                      /*cheap=*/false,       planewise,  cases(2)};
  return operation;
}

}  // namespace voxswap::net::ops
