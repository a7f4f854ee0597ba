// Sum over samples and voxels: the gradient of a bias when no weight gradient is computed with it.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 5);
  return {{{shape_of(graph, inputs[0])[4]}, full_type(graph, inputs[0])}};
}

OperationCase example(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

// x -> [C] full: sum over N,D,H,W.
const Operation& channel_sum() {
  static const Operation operation = {
      "channel_sum",
      infer,
      nullptr,
      per_element<1>,
      {},
      /*cheap=*/false,
      summed("channel_plane_sums", "add_planes"),
      {example("odd channels, batch of two", {2, 3, 5, 7, 3}), example("16 channels", {1, 9, 7, 11, 16}),
       example("20 channels", {1, 4, 5, 6, 20}), example("one voxel", {1, 1, 1, 1, 32})}};
  return operation;
}

}  // namespace voxswap::net::ops
