// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2) for f16, in which small gradients underflow.
// The backward pass starts from the scale instead of 1, and the optimiser divides by it. If a gradient is
// infinite or NaN, the whole update is skipped and the scale is halved. After many good updates in a row the
// scale is doubled.
//
// The state is [3]: the scale, the updates since it last changed, and the total number of updates. Adam
// counts the latter instead of steps, because some steps are skipped.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

bool is_state(const Graph& graph, ValueId id) {
  return shape_of(graph, id) == Shape{3};
}

std::vector<ValueSpec> infer_seed(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 1 && is_state(graph, inputs[0]));
  return {{{1}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_all_finite(const Graph& graph, const std::vector<ValueId>& inputs,
                                        const Attributes&) {
  assert(inputs.size() == 1 || inputs.size() == 2);
  assert(inputs.size() == 1 || shape_of(graph, inputs[1]) == Shape{1});
  return {{{1}, full_type(graph, inputs[0])}};
}

std::vector<ValueSpec> infer_update(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]) == Shape{1});
  return {};
}

const Attributes usual = {{"interval", 3}, {"least", 1}, {"most", 8}, {"initial", 4}};

}  // namespace

// state[3] (scale, updates since it changed, updates ever) full -> [1]: the scale.
const Operation& loss_scale_seed() {
  static const Operation operation = {
      "loss_scale_seed", infer_seed, nullptr,
      nullptr,           {},
      /*cheap=*/false,   whole,      {{"one", {full({3}, Fill::positive)}, {}, {}}}};
  return operation;
}

// gradient full (, so far[1]) -> [1] full: 1 if every number is finite and so far is not 0, else 0.
const Operation& all_finite() {
  static const Operation operation = {
      "all_finite",
      infer_all_finite,
      nullptr,
      per_element<1>,
      {},
      /*cheap=*/false,
      whole,
      {{"all are", {full({16, 4, 3, 3, 3})}, {}, {}},
       {"one number", {full({1}), full({1}, Fill::positive)}, {}, {}},
       {"one is not", {full({20, 5, 3, 3, 3}, Fill::one_infinite), full({1}, Fill::positive)}, {}, {}},
       {"many, one is not", {full({64, 64, 3, 3, 3}, Fill::one_infinite)}, {}, {}},
       {"all are, some before were not", {full({33}), full({1}, Fill::zeros)}, {}, {}}}};
  return operation;
}

// finite[1]; updates state[3]. If finite, both counts grow by 1; when the first reaches `interval`, the scale
// doubles (up to `most`) and the first count restarts. Otherwise the scale halves (down to `least`) and the
// first count restarts. Attributes interval, least, most, initial (scale before the first step).
const Operation& loss_scale_update() {
  static const Operation operation = {
      "loss_scale_update",
      infer_update,
      nullptr,
      nullptr,
      {},
      /*cheap=*/false,
      whole,
      {{"a good one", {full({1}, Fill::positive)}, usual, {full({3}, Fill::positive)}},
       {"a bad one", {full({1}, Fill::zeros)}, usual, {full({3}, Fill::positive)}},
       {"the first", {full({1}, Fill::positive)}, usual, {full({3}, Fill::zeros)}},
       {"each counts",
        {full({1}, Fill::positive)},
        {{"interval", 1}, {"least", 1}, {"most", 1e30}, {"initial", 4}},
        {full({3}, Fill::positive)}}}};
  return operation;
}

}  // namespace voxswap::net::ops
