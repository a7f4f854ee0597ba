// Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter 2019), one parameter
// per node so that each is updated as soon as its gradient is there.
#include "net/ops/ops.h"

namespace voxswap::ops {

namespace {

std::vector<ValueSpec> infer(const Graph&, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1 || inputs.size() == 3);
  return {};
}

OperationCase example(std::string name, const Shape& shape, double weight_decay) {
  return {std::move(name),
          {full(shape)},
          {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", weight_decay}},
          {full(shape), full(shape), full(shape, Fill::positive)}};
}

// With loss scaling, in a step whose gradients were or were not finite.
OperationCase scaled(std::string name, const Shape& shape, Fill finite) {
  OperationCase result = example(std::move(name), shape, 0.01);
  result.inputs.push_back(full({3}, Fill::positive));
  result.inputs.push_back(full({1}, finite));
  return result;
}

}  // namespace

const Operation& adam() {
  static const Operation operation = {
      "adam",
      "gradient (, loss scale[3], finite[1]); updates parameter, m, v",
      infer,
      nullptr,
      per_element<12>,
      {},
      /*cheap=*/false,
      {example("weight", {16, 4, 3, 3, 3}, 0), example("bias, with decay", {5}, 0.01), example("one", {1}, 0),
       example("weight, with decay", {3, 20, 1, 1, 1}, 0.1),
       scaled("scaled", {16, 5, 3, 3, 3}, Fill::positive), scaled("scaled, not finite", {7}, Fill::zeros)}};
  return operation;
}

}  // namespace voxswap::ops
