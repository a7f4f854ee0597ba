// Global average pooling, for classifiers, and the broadcast of one voxel to a whole volume. Each is the
// other's gradient.
#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer_pool(const Graph& graph, const std::vector<ValueId>& inputs,
                                  const Attributes& attributes) {
  assert(inputs.size() == 1 && attributes.real("voxels") > 0);
  static_cast<void>(attributes);
  const Shape& x = shape_of(graph, inputs[0]);
  return {{{x[0], 1, 1, 1, x[4]}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 1 && attributes.real("voxels") > 0);
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
                       {"w", static_cast<double>(x[3])},
                       {"voxels", node.attributes.real("voxels")}})};
}

std::vector<ValueId> gradient_of_gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                          const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("average_pool", node.name + ".gradient", {output_gradients[0]},
                      {{"voxels", node.attributes.real("voxels")}})};
}

double flops_of_gradient(const Graph& graph, const Node& node) {
  return static_cast<double>(shape_of(graph, node.outputs[0]).count());
}

OperationCase forward(std::string name, Shape x, double over, Fill fill = Fill::normal) {
  return {std::move(name), {activation(std::move(x), fill)}, {{"voxels", over}}, {}};
}

OperationCase backward(std::string name, std::int64_t samples, std::int64_t channels, double d, double h,
                       double w) {
  return {std::move(name),
          {activation({samples, 1, 1, 1, channels})},
          {{"d", d}, {"h", h}, {"w", w}, {"voxels", d * h * w}},
          {}};
}

OperationCase everywhere(std::string name, std::int64_t channels, double d, double w) {
  OperationCase example = backward(std::move(name), 2, channels, d, 1, w);
  example.attributes.set("voxels", 1);
  return example;
}

}  // namespace

// x -> [N,1,1,1,C]: the sum over D,H,W, over `voxels`; plane after plane, in double.
const Operation& average_pool() {
  static const Operation operation = {
      "average_pool",
      infer_pool,
      gradient,
      per_element<1>,
      {},
      /*cheap=*/false,
      summed("channel_plane_sums", "mean_of_planes"),
      {forward("one voxel", {1, 1, 1, 1, 3}, 1), forward("odd channels, batch of two", {2, 3, 5, 7, 5}, 105),
       forward("image, 64 channels", {2, 1, 7, 9, 64}, 63),
       forward("image of rows as planes, the sum", {2, 9, 1, 8, 16}, 1),
       forward("20 channels, positive", {1, 1, 33, 35, 20}, 1155, Fill::positive)}};
  return operation;
}

// dy[N,1,1,1,C] -> dx: dy / `voxels` everywhere. Attributes d, h, w (of dx), voxels.
const Operation& average_pool_gradient() {
  static const Operation operation = {
      "average_pool_gradient",
      infer_gradient,
      gradient_of_gradient,
      flops_of_gradient,
      {},
      /*cheap=*/false,
      spread(window_spread),
      {backward("one voxel", 1, 3, 1, 1, 1), backward("odd channels, batch of two", 2, 5, 3, 5, 7),
       backward("image, 64 channels", 2, 64, 1, 7, 9), backward("20 channels", 1, 20, 1, 3, 4),
       everywhere("the voxel everywhere in an image of rows as planes", 16, 7, 5)}};
  return operation;
}

}  // namespace voxswap::net::ops
