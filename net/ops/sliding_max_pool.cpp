// Max pooling with a sliding kernel, whose positions may overlap and reach into the padding, which is ignored
// (ResNet: 3x3, stride 2, padding 1). max_pool handles non-overlapping blocks.
//
// It also outputs the tap of each maximum. The gradient needs only that, neither x nor y.
#include "net/graph/kernel_axes.h"
#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

Shape pooled(const Shape& x, const Attributes& attributes) {
  assert(x.rank() == 5);
  const KernelAxes axes = kernel_axes(attributes);
  for (const KernelAxis& axis : axes) assert(axis.dilation == 1);
  assert(taps(axes) <= 256);
  return output_shape(x, axes, x[4]);
}

std::vector<ValueSpec> infer_pool(const Graph& graph, const std::vector<ValueId>& inputs,
                                  const Attributes& attributes) {
  assert(inputs.size() == 1);
  for (const KernelAxis& axis : kernel_axes(attributes)) assert(axis.before < axis.kernel);
  const Shape y = pooled(shape_of(graph, inputs[0]), attributes);
  return {{y, graph.value(inputs[0]).type}, {y, ElementType::u8}};
}

Shape unpooled(const Shape& y, const Attributes& attributes) {
  return {y[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), y[4]};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 2 && shape_of(graph, inputs[0]) == shape_of(graph, inputs[1]));
  assert(graph.value(inputs[1]).type == ElementType::u8);
  const Shape x = unpooled(shape_of(graph, inputs[0]), attributes);
  assert(pooled(x, attributes) == shape_of(graph, inputs[0]));
  return {{x, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  Attributes attributes = node.attributes;
  attributes.set("d", static_cast<double>(x[1]));
  attributes.set("h", static_cast<double>(x[2]));
  attributes.set("w", static_cast<double>(x[3]));
  return {graph.apply("sliding_max_pool_gradient", node.name + ".gradient",
                      {output_gradients[0], node.outputs[1]}, attributes)};
}

double flops(const Graph& graph, const Node& node) {
  const double taps_of_all = static_cast<double>(taps(kernel_axes(node.attributes)));
  const ValueId y = node.operation->name == "sliding_max_pool" ? node.outputs[0] : node.inputs[0];
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
      {"image of rows as planes, 3x3, stride 2, odd channels", {2, 9, 1, 7, 5}, of_rows(3, 2, 1)},
      {"image of rows as planes, 3x3, stride 2, 64 channels", {1, 14, 1, 5, 64}, of_rows(3, 2, 1)},
  };
  std::vector<OperationCase> result;
  for (const auto& [name, x, axes] : examples) {
    Attributes attributes = attributes_of(axes);
    set_kernel(attributes, axes);
    if (!backward) {
      result.push_back({name, {activation(x)}, attributes, {}});
      continue;
    }
    const Shape y = pooled(x, attributes);
    attributes.set("d", static_cast<double>(x[1]));
    attributes.set("h", static_cast<double>(x[2]));
    attributes.set("w", static_cast<double>(x[3]));
    result.push_back({name, {activation(y), tap_numbers(y)}, attributes, {}});
  }
  return result;
}

}  // namespace

// x -> y, taps u8: the maximum over the taps inside the volume, and the number of the first tap with that
// value, in scan order (z, y, x) over the whole kernel. Attributes kernel, stride, padding, for all axes or
// per axis (net/graph/kernel_axes.h). REQUIRES: padding < kernel, at most 256 taps.
const Operation& sliding_max_pool() {
  static const Operation operation = {"sliding_max_pool",
                                      infer_pool,
                                      gradient,
                                      flops,
                                      {},
                                      /*cheap=*/true,
                                      windowed(window_pool),
                                      cases(false)};
  return operation;
}

// dy, taps u8 -> dx[N,d,h,w,C]: each element of dy is added at the position of its tap, if that is inside.
// Attributes as sliding_max_pool, and d, h, w (of dx).
const Operation& sliding_max_pool_gradient() {
  static const Operation operation = {"sliding_max_pool_gradient",
                                      infer_gradient,
                                      nullptr,
                                      flops,
                                      {},
                                      /*cheap=*/false,
                                      windowed_pair(window_unpool, 0),
                                      cases(true)};
  return operation;
}

}  // namespace voxswap::net::ops
