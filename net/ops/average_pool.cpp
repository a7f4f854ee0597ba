// The mean over all voxels of a sample: what a classifier reads of its last feature maps.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer_pool(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  return {{{x[0], 1, 1, 1, x[4]}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 1);
  const Shape& dy = shape_of(graph, inputs[0]);
  assert(dy.rank() == 5 && voxels(dy) == 1);
  return {{{dy[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), dy[4]},
           graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  return {graph.apply("average_pool_gradient", node.name + ".gradient", {output_gradients[0]},
                      {{"d", static_cast<double>(x[1])},
                       {"h", static_cast<double>(x[2])},
                       {"w", static_cast<double>(x[3])}})};
}

double flops_of_gradient(const Graph& graph, const Node& node) {
  return static_cast<double>(shape_of(graph, node.outputs[0]).count());
}

OperationCase backward(std::string name, std::int64_t samples, std::int64_t channels, double d, double h,
                       double w) {
  return {std::move(name), {activation({samples, 1, 1, 1, channels})}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

}  // namespace

// x -> [N,1,1,1,C]: the mean over D,H,W; accumulated in double.
const Operation& average_pool() {
  static const Operation operation = {
      "average_pool",
      infer_pool,
      gradient,
      per_element<1>,
      {},
      /*cheap=*/false,
      whole,
      {{"one voxel", {activation({1, 1, 1, 1, 3})}, {}, {}},
       {"odd channels, batch of two", {activation({2, 3, 5, 7, 5})}, {}, {}},
       {"image, 64 channels", {activation({2, 1, 7, 9, 64})}, {}, {}},
       {"20 channels, positive", {activation({1, 1, 33, 35, 20}, Fill::positive)}, {}, {}}}};
  return operation;
}

// dy[N,1,1,1,C] -> dx: dy / (d h w) everywhere. Attributes d, h, w (of dx).
const Operation& average_pool_gradient() {
  static const Operation operation = {
      "average_pool_gradient",
      infer_gradient,
      nullptr,
      flops_of_gradient,
      {},
      /*cheap=*/false,
      whole,
      {backward("one voxel", 1, 3, 1, 1, 1), backward("odd channels, batch of two", 2, 5, 3, 5, 7),
       backward("image, 64 channels", 2, 64, 1, 7, 9), backward("20 channels", 1, 20, 1, 3, 4)}};
  return operation;
}

}  // namespace voxswap::net::ops
