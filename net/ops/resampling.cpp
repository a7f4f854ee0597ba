// Resampling: upsampling by 2, subsampling of targets, and linear interpolation.
#include <algorithm>

#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Nearest-neighbour upsampling by 2 along each axis. The gradient is the sum over each 2x2x2 block.

namespace {

std::vector<ValueSpec> infer_upsample(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  return {{{x[0], 2 * x[1], 2 * x[2], 2 * x[3], x[4]}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& dy = shape_of(graph, inputs[0]);
  assert(dy[1] % 2 == 0 && dy[2] % 2 == 0 && dy[3] % 2 == 0);
  return {{{dy[0], dy[1] / 2, dy[2] / 2, dy[3] / 2, dy[4]}, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient_upsample(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                       const std::vector<bool>&) {
  return {graph.apply("upsample_nearest_gradient", std::string(graph.node(id).name) + ".gradient",
                      {output_gradients[0]})};
}

OperationCase example_upsample(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

// x -> y with twice the sides.
const Operation& upsample_nearest() {
  static const Operation operation = {
      "upsample_nearest",
      infer_upsample,
      gradient_upsample,
      nullptr,
      {},
      /*cheap=*/true,
      windowed(window_upsample, 0, none, 2),
      {example_upsample("one voxel", {1, 1, 1, 1, 5}),
       example_upsample("odd channels, batch of two", {2, 2, 3, 5, 3}),
       example_upsample("16 channels", {1, 3, 4, 5, 16}), example_upsample("20 channels", {1, 4, 1, 3, 20}),
       example_upsample("32 channels", {1, 3, 2, 5, 32})}};
  return operation;
}

// dy -> dx: sum over each 2x2x2 block.
const Operation& upsample_nearest_gradient() {
  static const Operation operation = {
      "upsample_nearest_gradient",
      infer_gradient,
      nullptr,
      per_element<1>,
      {},
      /*cheap=*/false,
      windowed(window_of_blocks),
      {example_upsample("one block", {1, 2, 2, 2, 5}),
       example_upsample("odd channels, batch of two", {2, 4, 6, 10, 3}),
       example_upsample("16 channels", {1, 6, 8, 10, 16}), example_upsample("20 channels", {1, 8, 2, 6, 20}),
       example_upsample("32 channels", {1, 6, 4, 10, 32})}};
  return operation;
}

// Targets for deep supervision at lower resolutions: the middle voxel of each block, as in PyTorch's
// interpolate() with mode nearest-exact. Targets are classes or bits, which cannot be averaged.

namespace {

std::vector<ValueSpec> infer_subsample(const Graph& graph, const std::vector<ValueId>& inputs,
                                       const Attributes& attributes) {
  assert(inputs.size() == 1 && graph.value(inputs[0]).type == ElementType::u8);
  const Shape& x = shape_of(graph, inputs[0]);
  const std::int64_t d = attributes.integer("d"), h = attributes.integer("h"), w = attributes.integer("w");
  assert(x.rank() >= 4 && x[1] % d == 0 && x[2] % h == 0 && x[3] % w == 0);
  const Shape y = {x[0], x[1] / d, x[2] / h, x[3] / w};
  return {{x.rank() == 4 ? y : Shape{y[0], y[1], y[2], y[3], x[4]}, ElementType::u8}};
}

Cut::Window window(const Graph&, const Node& node, Planes made) {
  const std::int64_t block = node.attributes.integer("d");
  return {{block * made.from, block * made.to}, node.attributes};
}

OperationCase example_subsample(std::string name, Shape x, double d, double h, double w) {
  return {std::move(name), {classes(std::move(x))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

}  // namespace

// x u8[N,D,H,W] -> y u8[N,D/d,H/h,W/w]: voxel d i + d / 2 along the depth, likewise along the other axes.
// With several bytes per voxel, both have a last axis for them. Attributes d, h, w.
const Operation& subsample() {
  static const Operation operation = {
      "subsample",
      infer_subsample,
      nullptr,
      nullptr,
      {},
      /*cheap=*/true,
      windowed(window),
      {example_subsample("halves, batch of two", {2, 4, 6, 10}, 2, 2, 2),
       example_subsample("a block of one", {1, 3, 4, 5}, 1, 1, 1),
       example_subsample("planes kept", {1, 5, 8, 12}, 1, 2, 4),
       example_subsample("eighths and quarters", {1, 16, 8, 12}, 8, 4, 4),
       example_subsample("three bytes of a voxel", {2, 4, 4, 8, 3}, 2, 2, 4)}};
  return operation;
}

// Linear interpolation to other sides (bilinear for images), with voxel centres aligned as in PyTorch's
// interpolate() with align_corners=False; and its gradient.
//
// Along an axis, output o of n is at s = max((o + 1/2) side / n - 1/2, 0), between i = floor(s) and min(i +
// 1, side - 1), with weights 1 - (s - i) and s - i.

namespace {

Shape resized(const Shape& x, const Attributes& attributes) {
  return {x[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), x[4]};
}

std::vector<ValueSpec> infer_resize_linear(const Graph& graph, const std::vector<ValueId>& inputs,
                                           const Attributes& attributes) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 5);
  const Shape to = resized(shape_of(graph, inputs[0]), attributes);
  assert(to.count() > 0);
  return {{to, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient_resize_linear(Graph& graph, NodeId id,
                                            std::span<const ValueId> output_gradients,
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
OperationCase example_resize_linear(std::string name, Shape from, double d, double h, double w) {
  return {std::move(name), {activation(std::move(from))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

std::vector<OperationCase> cases() {
  return {example_resize_linear("one voxel, to many", {2, 1, 1, 1, 5}, 1, 4, 3),
          example_resize_linear("image, twice the sides", {1, 1, 3, 4, 16}, 1, 6, 8),
          example_resize_linear("image, eight times, odd channels", {2, 1, 2, 3, 3}, 1, 16, 24),
          example_resize_linear("image, uneven factors, 20 channels", {1, 1, 5, 4, 20}, 1, 13, 17),
          example_resize_linear("image, smaller", {1, 1, 12, 9, 16}, 1, 5, 7),
          example_resize_linear("the same sides", {1, 2, 3, 4, 3}, 2, 3, 4),
          example_resize_linear("image of rows as planes, eight times", {2, 4, 1, 3, 16}, 32, 1, 24),
          example_resize_linear("image of rows as planes, uneven factors", {1, 7, 1, 4, 3}, 17, 1, 9),
          example_resize_linear("volume", {1, 3, 4, 2, 5}, 7, 5, 6),
          example_resize_linear("volume, smaller along the depth alone", {1, 6, 3, 4, 16}, 2, 5, 4)};
}

}  // namespace

// x -> y with sides d, h, w. Attributes d, h, w (, x_depth, y_depth, x_first, y_first:
// net/graph/axes.h).
const Operation& resize_linear() {
  static const Operation operation = {"resize_linear",
                                      infer_resize_linear,
                                      gradient_resize_linear,
                                      flops,
                                      {},
                                      /*cheap=*/true,
                                      windowed(window_resize),
                                      cases()};
  return operation;
}

// dy -> dx: each element of dy is distributed with the weights of the interpolation. Attributes d, h, w (of
// dx) (, x_depth, y_depth, x_first, y_first).
const Operation& resize_linear_gradient() {
  static const Operation operation = {"resize_linear_gradient",
                                      infer_resize_linear,
                                      nullptr,
                                      flops,
                                      {},
                                      /*cheap=*/false,
                                      windowed(window_resize_gradient),
                                      cases()};
  return operation;
}

}  // namespace voxswap::net::ops
