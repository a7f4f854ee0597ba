// Parameter updates, the loss scale and gradient clipping.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Parameter updates: Adam (Kingma & Ba 2015, algorithm 1) with decoupled weight decay (Loshchilov & Hutter
// 2019), and stochastic gradient descent with Nesterov momentum (Sutskever et al. 2013, as in PyTorch's SGD).
// A node updates one parameter as soon as its gradient is available, or many small ones together.

namespace {

Specs infer(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(!inputs.empty());
  for (const ValueId id : inputs) assert(graph.value(id).type == full_type(graph, id));
  return {};
}

// `states`: optimiser states per parameter.
template <int per_element, std::size_t states>
double flops(const Graph& graph, const Node& node) {
  double elements = 0;
  for (std::size_t i = 0; i < node.updates.size(); i += 1 + states)
    elements += static_cast<double>(shape_of(graph, node.updates[i]).count());
  return per_element * elements;
}

}  // namespace

// gradients, one or more (, state[3], finite[1]: loss scaling) (, clip[1]); updates parameter, m, v of the
// first gradient, then of the second, … (all full). Kingma & Ba 2015, algorithm 1, with decoupled weight
// decay. Attributes beta1, beta2, epsilon, weight_decay; learning rate and step from StepContext. With loss
// scaling, gradients are divided by the scale, the step is the number of updates made + 1, and nothing
// changes if finite is 0.
const Operation& adam() {
  static const Operation operation = {"adam", infer, nullptr,         flops<12, 2>,
                                      whole,  {},    /*cheap=*/false, /*depends_on_step=*/true};
  return operation;
}

// gradients, one or more (, state[3], finite[1]: loss scaling) (, clip[1]); updates parameter, momentum of
// the first gradient, then of the second, … (all full): d = g + weight_decay parameter; momentum = mu
// momentum + d; parameter -= rate (d + mu momentum). Attributes momentum (mu), weight_decay; learning rate
// from StepContext. With loss scaling, gradients are divided by the scale and nothing changes if finite is 0.
// With clip, gradients are multiplied by it.
const Operation& sgd() {
  static const Operation operation = {"sgd", infer, nullptr,         flops<7, 1>,
                                      whole, {},    /*cheap=*/false, /*depends_on_step=*/true};
  return operation;
}

// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2) for f16, in which small gradients underflow.
// The backward pass starts from the scale instead of 1, and the optimiser divides by it. If a gradient is
// infinite or NaN, the whole update is skipped and the scale is halved. After many good updates in a row the
// scale is doubled.
//
// The state is [3]: the scale, the updates since it last changed, and the total number of updates. Adam
// counts the latter instead of steps, because some steps are skipped.

namespace {

bool is_state(const Graph& graph, ValueId id) {
  return shape_of(graph, id) == Shape{3};
}

Specs infer_seed(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && is_state(graph, inputs[0]));
  return {{{1}, graph.value(inputs[0]).type}};
}

Specs infer_all_finite(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 || inputs.size() == 2);
  assert(inputs.size() == 1 || shape_of(graph, inputs[1]) == Shape{1});
  return {{{1}, full_type(graph, inputs[0])}};
}

Specs infer_update(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]) == Shape{1});
  return {};
}

}  // namespace

// state[3] (scale, updates since it changed, updates ever) full -> [1]: the scale.
const Operation& loss_scale_seed() {
  static const Operation operation = {"loss_scale_seed", infer_seed, nullptr, nullptr, whole};
  return operation;
}

// gradient full (, so far[1]) -> [1] full: 1 if every number is finite and so far is not 0, else 0.
const Operation& all_finite() {
  static const Operation operation = {"all_finite", infer_all_finite, nullptr, per_element<1>, whole};
  return operation;
}

// finite[1]; updates state[3]. If finite, both counts grow by 1; when the first reaches `interval`, the scale
// doubles (up to `most`) and the first count restarts. Otherwise the scale halves (down to `least`) and the
// first count restarts. Attributes interval, least, most, initial (scale before the first step).
const Operation& loss_scale_update() {
  static const Operation operation = {"loss_scale_update", infer_update, nullptr, nullptr, whole};
  return operation;
}

// Gradient clipping by the global norm (Pascanu et al. 2013): all gradients are scaled by one factor if their
// norm is too large. Parameter updates therefore wait for all gradients.

namespace {

Specs infer_squares(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 || (inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{1}));
  return {{{1}, full_type(graph, inputs[0])}};
}

Specs infer_factor(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1 || (inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{3}));
  assert(shape_of(graph, inputs[0]) == Shape{1} && attributes.real("most") > 0);
  static_cast<void>(attributes);
  return like(graph, inputs[0]);
}

}  // namespace

// gradient full (, so far[1]) -> [1] full: sum of its squares, plus `so far`. Accumulated in double.
const Operation& sum_of_squares() {
  static const Operation operation = {"sum_of_squares", infer_squares, nullptr, per_element<2>, whole};
  return operation;
}

// squares[1] (, state[3]: loss scaling) full -> [1]: min(1, most / (sqrt(squares) / scale + 1e-6)), as in
// PyTorch's clip_grad_norm_. Attribute most: the largest norm that is not clipped.
const Operation& clip_factor() {
  static const Operation operation = {"clip_factor", infer_factor, nullptr, nullptr, whole};
  return operation;
}

}  // namespace voxswap::net::ops
