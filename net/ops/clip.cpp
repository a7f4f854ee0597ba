// Gradient clipping by the global norm (Pascanu et al. 2013): all gradients are scaled by one factor if their
// norm is too large. Parameter updates therefore wait for all gradients.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer_squares(const Graph& graph, const std::vector<ValueId>& inputs,
                                     const Attributes&) {
  assert(inputs.size() == 1 || (inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{1}));
  return {{{1}, full_type(graph, inputs[0])}};
}

std::vector<ValueSpec> infer_factor(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const Attributes& attributes) {
  assert(inputs.size() == 1 || (inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{3}));
  assert(shape_of(graph, inputs[0]) == Shape{1} && attributes.real("most") > 0);
  static_cast<void>(attributes);
  return like(graph, inputs[0]);
}

}  // namespace

// gradient full (, so far[1]) -> [1] full: sum of its squares, plus `so far`. Accumulated in double.
const Operation& sum_of_squares() {
  static const Operation operation = {
      "sum_of_squares",
      infer_squares,
      nullptr,
      per_element<2>,
      {},
      /*cheap=*/false,
      whole,
      {{"one number", {full({1})}, {}, {}},
       {"a weight", {full({16, 4, 3, 3, 3})}, {}, {}},
       {"odd, behind another", {full({263}), full({1}, Fill::positive)}, {}, {}},
       {"many", {full({64, 64, 3, 3, 3}), full({1}, Fill::positive)}, {}, {}}}};
  return operation;
}

// squares[1] (, state[3]: loss scaling) full -> [1]: min(1, most / (sqrt(squares) / scale + 1e-6)), as in
// PyTorch's clip_grad_norm_. Attribute most: the largest norm that is not clipped.
const Operation& clip_factor() {
  static const Operation operation = {
      "clip_factor",
      infer_factor,
      nullptr,
      nullptr,
      {},
      /*cheap=*/false,
      whole,
      {{"too large", {full({1}, Fill::positive)}, {{"most", 0.01}}, {}},
       {"small enough", {full({1}, Fill::positive)}, {{"most", 1000}}, {}},
       {"nothing", {full({1}, Fill::zeros)}, {{"most", 1}}, {}},
       {"scaled", {full({1}, Fill::positive), full({3}, Fill::positive)}, {{"most", 0.1}}, {}}}};
  return operation;
}

}  // namespace voxswap::net::ops
