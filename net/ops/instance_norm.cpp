// Statistics of instance normalisation (Ulyanov et al. 2016), per sample and channel over the whole volume.
// They are separate from norm_activation, which applies them, because the backward pass needs to keep only
// them.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5);
  return {{{x[0], x[4], 2}, full_type(graph, inputs[0])}};
}

// No gradient here: that of norm_activation already treats the statistics as functions of x.
std::vector<ValueId> gradient(Graph&, NodeId, std::span<const ValueId>, const std::vector<bool>&) {
  return {none};
}

OperationCase example(std::string name, Shape x, Fill fill = Fill::normal) {
  return {std::move(name), {activation(std::move(x), fill)}, {{"epsilon", 1e-5}}, {}};
}

}  // namespace

// x -> [N,C,2] full: mean, 1/sqrt(variance + epsilon). Attribute epsilon.
const Operation& instance_norm_statistics() {
  static const Operation operation = {
      "instance_norm_statistics",
      infer,
      gradient,
      per_element<4>,
      {},
      /*cheap=*/false,
      summed("plane_moments", "statistics_of_planes"),
      {example("one voxel", {1, 1, 1, 1, 3}), example("odd channels, batch of two", {2, 3, 5, 4, 5}),
       example("16 channels, unequal sides", {1, 9, 7, 11, 16}), example("20 channels", {2, 4, 3, 6, 20}),
       example("32 channels, positive: mean far from 0", {1, 6, 8, 10, 32}, Fill::positive),
       example("3 channels, positive", {1, 12, 13, 14, 3}, Fill::positive),
       example("256 channels, few voxels", {1, 2, 2, 3, 256})}};
  return operation;
}

}  // namespace voxswap::net::ops
