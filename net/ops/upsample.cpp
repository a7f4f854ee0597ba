// Nearest-neighbour upsampling by 2 along each axis. The gradient is the sum over each 2x2x2 block.
#include "net/ops/windows.h"

namespace voxswap::net::ops {

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

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>&) {
  return {graph.apply("upsample_nearest_gradient", std::string(graph.node(id).name) + ".gradient",
                      {output_gradients[0]})};
}

OperationCase example(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

// x -> y with twice the sides.
const Operation& upsample_nearest() {
  static const Operation operation = {
      "upsample_nearest",
      infer_upsample,
      gradient,
      nullptr,
      {},
      /*cheap=*/true,
      windowed(window_upsample, 0, none, 2),
      {example("one voxel", {1, 1, 1, 1, 5}), example("odd channels, batch of two", {2, 2, 3, 5, 3}),
       example("16 channels", {1, 3, 4, 5, 16}), example("20 channels", {1, 4, 1, 3, 20}),
       example("32 channels", {1, 3, 2, 5, 32})}};
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
      {example("one block", {1, 2, 2, 2, 5}), example("odd channels, batch of two", {2, 4, 6, 10, 3}),
       example("16 channels", {1, 6, 8, 10, 16}), example("20 channels", {1, 8, 2, 6, 20}),
       example("32 channels", {1, 6, 4, 10, 32})}};
  return operation;
}

}  // namespace voxswap::net::ops
