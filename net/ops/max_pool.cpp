// Maximum over blocks of 2x2x2. The gradient goes to the first maximum in scan order, so that ties have the
// same result on every backend.
#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

Shape pooled(const Shape& x) {
  assert(x.rank() == 5 && x[1] % 2 == 0 && x[2] % 2 == 0 && x[3] % 2 == 0);
  return {x[0], x[1] / 2, x[2] / 2, x[3] / 2, x[4]};
}

std::vector<ValueSpec> infer_pool(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  return {{pooled(shape_of(graph, inputs[0])), graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes&) {
  assert(inputs.size() == 2 && pooled(shape_of(graph, inputs[0])) == shape_of(graph, inputs[1]));
  return like(graph, inputs[0]);
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("max_pool_gradient", node.name + ".gradient", {node.inputs[0], output_gradients[0]})};
}

std::vector<OperationCase> cases(bool backward) {
  const std::vector<std::pair<std::string, Shape>> volumes = {
      {"one block", {1, 2, 2, 2, 1}},
      {"odd channels, batch of two", {2, 4, 6, 10, 3}},
      {"20 channels", {1, 6, 2, 8, 20}},
      {"64 channels", {1, 4, 6, 4, 64}},
  };
  std::vector<OperationCase> result;
  for (const auto& [name, x] : volumes) {
    result.push_back({name, {activation(x)}, {}, {}});
    if (backward) result.back().inputs.push_back(activation(pooled(x)));
  }
  return result;
}

}  // namespace

// x -> y with half the sides; kernel 2x2x2, stride 2.
const Operation& max_pool() {
  static const Operation operation = {"max_pool",
                                      infer_pool,
                                      gradient,
                                      per_element<1>,
                                      {},
                                      /*cheap=*/true,
                                      windowed(window_of_blocks),
                                      cases(false)};
  return operation;
}

// x, dy -> dx: dy goes to the first maximum in scan order (z, y, x).
const Operation& max_pool_gradient() {
  static const Operation operation = {"max_pool_gradient",
                                      infer_gradient,
                                      nullptr,
                                      per_element<1>,
                                      {},
                                      /*cheap=*/false,
                                      windowed(window_pool_gradient, 1, 0, 2),
                                      cases(true)};
  return operation;
}

}  // namespace voxswap::net::ops
