// Linear interpolation to other sides (bilinear for images), with voxel centres aligned as in PyTorch's
// interpolate() with align_corners=False; and its gradient.
//
// Along an axis, output o of n is at s = max((o + 1/2) side / n - 1/2, 0), between i = floor(s) and min(i +
// 1, side - 1), with weights 1 - (s - i) and s - i.
#include <algorithm>

#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

Shape resized(const Shape& x, const Attributes& attributes) {
  return {x[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), x[4]};
}

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 5);
  const Shape to = resized(shape_of(graph, inputs[0]), attributes);
  assert(to.count() > 0);
  return {{to, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  const Node node = graph.node(id);
  const Shape x = shape_of(graph, node.inputs[0]);
  return {graph.apply("resize_linear_gradient", node.name + ".gradient", {output_gradients[0]},
                      {{"d", static_cast<double>(x[1])},
                       {"h", static_cast<double>(x[2])},
                       {"w", static_cast<double>(x[3])}})};
}

// Two operations for each of the eight neighbours of a voxel of the larger volume.
double flops(const Graph& graph, const Node& node) {
  const double larger = static_cast<double>(
      std::max(shape_of(graph, node.inputs[0]).count(), shape_of(graph, node.outputs[0]).count()));
  return 16 * larger;
}

// `from`: the shape of x, or of dy for the gradient.
OperationCase example(std::string name, Shape from, double d, double h, double w) {
  return {std::move(name), {activation(std::move(from))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

std::vector<OperationCase> cases() {
  return {example("one voxel, to many", {2, 1, 1, 1, 5}, 1, 4, 3),
          example("image, twice the sides", {1, 1, 3, 4, 16}, 1, 6, 8),
          example("image, eight times, odd channels", {2, 1, 2, 3, 3}, 1, 16, 24),
          example("image, uneven factors, 20 channels", {1, 1, 5, 4, 20}, 1, 13, 17),
          example("image, smaller", {1, 1, 12, 9, 16}, 1, 5, 7),
          example("the same sides", {1, 2, 3, 4, 3}, 2, 3, 4),
          example("image of rows as planes, eight times", {2, 4, 1, 3, 16}, 32, 1, 24),
          example("image of rows as planes, uneven factors", {1, 7, 1, 4, 3}, 17, 1, 9),
          example("volume", {1, 3, 4, 2, 5}, 7, 5, 6),
          example("volume, smaller along the depth alone", {1, 6, 3, 4, 16}, 2, 5, 4)};
}

}  // namespace

// x -> y with sides d, h, w. Attributes d, h, w (, x_depth, y_depth, x_first, y_first:
// net/graph/linear_axis.h).
const Operation& resize_linear() {
  static const Operation operation = {"resize_linear",         infer,  gradient, flops, {}, /*cheap=*/true,
                                      windowed(window_resize), cases()};
  return operation;
}

// dy -> dx: each element of dy is distributed with the weights of the interpolation. Attributes d, h, w (of
// dx) (, x_depth, y_depth, x_first, y_first).
const Operation& resize_linear_gradient() {
  static const Operation operation = {"resize_linear_gradient",
                                      infer,
                                      nullptr,
                                      flops,
                                      {},
                                      /*cheap=*/false,
                                      windowed(window_resize_gradient),
                                      cases()};
  return operation;
}

}  // namespace voxswap::net::ops
