// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter 2019), one parameter
// per node so that each is updated as soon as its gradient is there.
#include "net/ops/ops.h"

namespace voxswap::ops {

namespace {

std::vector<ValueSpec> infer(const Graph&, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  return {};
}

OperationCase example(std::string name, const Shape& shape, double weight_decay) {
  return {std::move(name),
          {full(shape)},
          {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", weight_decay}},
          {full(shape), full(shape), full(shape, Fill::positive)}};
}

}  // namespace

const Operation& adam() {
  static const Operation operation = {
      "adam",
      "gradient; updates parameter, m, v",
      infer,
      nullptr,
      per_element<12>,
      {},
      /*cheap=*/false,
      {example("weight", {16, 4, 3, 3, 3}, 0), example("bias, with decay", {5}, 0.01), example("one", {1}, 0),
       example("weight, with decay", {3, 20, 1, 1, 1}, 0.1)}};
  return operation;
}

}  // namespace voxswap::ops
