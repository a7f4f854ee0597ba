// Targets for deep supervision at lower resolutions: the middle voxel of each block, as in PyTorch's
// interpolate() with mode nearest-exact. Targets are classes or bits, which cannot be averaged.
#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs,
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

OperationCase example(std::string name, Shape x, double d, double h, double w) {
  return {std::move(name), {classes(std::move(x))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

}  // namespace

// x u8[N,D,H,W] -> y u8[N,D/d,H/h,W/w]: voxel d i + d / 2 along the depth, likewise along the other axes.
// With several bytes per voxel, both have a last axis for them. Attributes d, h, w.
const Operation& subsample() {
  static const Operation operation = {
      "subsample",
      infer,
      nullptr,
      nullptr,
      {},
      /*cheap=*/true,
      windowed(window),
      {example("halves, batch of two", {2, 4, 6, 10}, 2, 2, 2),
       example("a block of one", {1, 3, 4, 5}, 1, 1, 1), example("planes kept", {1, 5, 8, 12}, 1, 2, 4),
       example("eighths and quarters", {1, 16, 8, 12}, 8, 4, 4),
       example("three bytes of a voxel", {2, 4, 4, 8, 3}, 2, 2, 4)}};
  return operation;
}

}  // namespace voxswap::net::ops
