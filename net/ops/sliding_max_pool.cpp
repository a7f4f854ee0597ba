// Maximum under a kernel that slides over the volume, and may overlap itself and reach over the border, where
// there is nothing (ResNet's 3x3, stride 2, padding 1). Blocks that tile the volume are max_pool's.
#include "net/graph/kernel_axes.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

Shape pooled(const Shape& x, const Attributes& attributes) {
  assert(x.rank() == 5);
  const KernelAxes axes = kernel_axes(attributes);
  for (const KernelAxis& axis : axes) assert(axis.before < axis.kernel && axis.dilation == 1);
  return output_shape(x, axes, x[4]);
}

std::vector<ValueSpec> infer_pool(const Graph& graph, const std::vector<ValueId>& inputs,
                                  const Attributes& attributes) {
  assert(inputs.size() == 1);
  return {{pooled(shape_of(graph, inputs[0]), attributes), graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 2 && pooled(shape_of(graph, inputs[0]), attributes) == shape_of(graph, inputs[1]));
  return like(graph, inputs[0]);
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("sliding_max_pool_gradient", node.name + ".gradient",
                      {node.inputs[0], output_gradients[0]}, node.attributes)};
}

double flops(const Graph& graph, const Node& node) {
  const double taps_of_all = static_cast<double>(taps(kernel_axes(node.attributes)));
  const ValueId y = node.operation->name == "sliding_max_pool" ? node.outputs[0] : node.inputs[1];
  return taps_of_all * static_cast<double>(shape_of(graph, y).count());
}

std::vector<OperationCase> cases(bool backward) {
  struct Example {
    std::string name;
    Shape x;
    KernelAxes axes;
  };
  const std::vector<Example> examples = {
      {"one voxel", {1, 1, 1, 1, 3}, square(3, 2, 1)},
      {"image, 3x3, stride 2, odd channels, batch of two", {2, 1, 7, 8, 5}, square(3, 2, 1)},
      {"image, 3x3, stride 2, 64 channels", {1, 1, 10, 9, 64}, square(3, 2, 1)},
      {"image, 3x3, stride 1", {1, 1, 5, 6, 16}, square(3, 1, 1)},
      {"image, 2x2, stride 2, some is left over", {1, 1, 5, 7, 20}, square(2, 2, 0)},
      {"image, 3x3, stride 3, 24 channels", {1, 1, 9, 10, 24}, square(3, 3, 0)},
      {"volume, stride 2", {1, 5, 6, 7, 3}, cube(3, 2, 1)},
      {"volume of flat kernels", {2, 3, 6, 5, 16}, square(3, 2, 1)},
  };
  std::vector<OperationCase> result;
  for (const auto& [name, x, axes] : examples) {
    Attributes attributes = attributes_of(axes);
    set_kernel(attributes, axes);
    result.push_back({name, {activation(x)}, attributes, {}});
    if (backward) result.back().inputs.push_back(activation(pooled(x, attributes)));
  }
  return result;
}

}  // namespace

// x -> y: the maximum over the taps that lie inside. Attributes kernel, stride, padding, for all axes or for
// each (net/graph/kernel_axes.h). REQUIRES: less padding than kernel.
const Operation& sliding_max_pool() {
  static const Operation operation = {"sliding_max_pool", infer_pool, gradient,    flops, {},
                                      /*cheap=*/true,     whole,      cases(false)};
  return operation;
}

// x, dy -> dx: every element of dy goes to the first maximum under its kernel in scan order (z, y, x).
const Operation& sliding_max_pool_gradient() {
  static const Operation operation = {"sliding_max_pool_gradient",
                                      infer_gradient,
                                      nullptr,
                                      flops,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      cases(true)};
  return operation;
}

}  // namespace voxswap::net::ops
