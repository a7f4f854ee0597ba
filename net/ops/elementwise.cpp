// Elementwise operations: add, cast, leaky ReLU and sigmoid. Operations without inputs: the constant, and the
// factors of dropout.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Sum of two volumes. Not marked cheap, because it may overwrite either summand.

namespace {

Specs infer_add(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 2 && graph.value(inputs[0]).shape == graph.value(inputs[1]).shape);
  assert(graph.value(inputs[0]).type == graph.value(inputs[1]).type);
  return like(graph, inputs[0]);
}

Ids gradient_add(Graph&, NodeId, Gradients output_gradients, const Wanted& wanted) {
  return {wanted[0] ? output_gradients[0] : none, wanted[1] ? output_gradients[0] : none};
}

}  // namespace

// a, b -> a + b; over a or b.
const Operation& add() {
  static const Operation operation = {"add",          infer_add, gradient_add,
                                      per_element<1>, planewise, {{0, 0}, {0, 1}}};
  return operation;
}

// Conversion to another element type, rounding to nearest even.

namespace {

Specs infer_cast(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1);
  return {{shape_of(graph, inputs[0]), static_cast<ElementType>(attributes.integer("type"))}};
}

Ids gradient_cast(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("cast", node.name + ".gradient", {output_gradients[0]},
                      {{"type", static_cast<double>(graph.value(node.inputs[0]).type)}})};
}

}  // namespace

// x -> y of another type. Attribute type (the enum's number).
const Operation& cast() {
  static const Operation operation = {"cast",    infer_cast, gradient_cast, nullptr,
                                      planewise, {},         /*cheap=*/true};
  return operation;
}

// A constant, e.g. the 1 with which the backward pass starts.

namespace {

Specs infer_constant(const Graph&, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.empty());
  return {{{1}, static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)))}};
}

}  // namespace

// (nothing) -> [1] full. Attribute value (, type: the enum's number, f32 when absent).
const Operation& constant() {
  static const Operation operation = {"constant", infer_constant, nullptr, nullptr, whole};
  return operation;
}

// Leaky ReLU without a norm. Its gradient needs only the output. Not marked cheap: it may overwrite its
// input, so keeping the output costs no more memory than keeping the input.

namespace {

Ids gradient_leaky_relu(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("leaky_relu_gradient", node.name + ".gradient", {node.outputs[0], output_gradients[0]},
                      node.attributes)};
}

}  // namespace

// x -> y; over x. Attribute slope (0: ReLU).
const Operation& leaky_relu() {
  static const Operation operation = {"leaky_relu",   like_first, gradient_leaky_relu,
                                      per_element<1>, planewise,  {{0, 0}}};
  return operation;
}

// y, dy -> dx; over dy. y > 0 ? dy : slope dy.
const Operation& leaky_relu_gradient() {
  static const Operation operation = {"leaky_relu_gradient", like_first, nullptr,
                                      per_element<1>,        planewise,  {{0, 1}}};
  return operation;
}

// Sigmoid: logits to probabilities. The losses read logits instead, for accuracy.

namespace {

Ids gradient_sigmoid(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("sigmoid_gradient", node.name + ".gradient", {node.outputs[0], output_gradients[0]})};
}

}  // namespace

// x -> y; over x.
const Operation& sigmoid() {
  static const Operation operation = {"sigmoid",      like_first, gradient_sigmoid,
                                      per_element<4>, planewise,  {{0, 0}}};
  return operation;
}

// y, dy -> dy y (1 - y); over dy.
const Operation& sigmoid_gradient() {
  static const Operation operation = {"sigmoid_gradient", like_first, nullptr,
                                      per_element<3>,     planewise,  {{0, 1}}};
  return operation;
}

// Spatial dropout of whole channels (Tompson et al. 2015). This operation draws only the factors.
// norm_activation multiplies by them, so dropout needs no pass over memory.

namespace {

Specs infer_dropout(const Graph&, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.empty());
  assert(attributes.real("rate") >= 0 && attributes.real("rate") < 1);
  const auto type = static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)));
  return {{{attributes.integer("n"), attributes.integer("c")}, type}};
}

}  // namespace

// (nothing) -> [N,C] full: 0 with probability rate, else 1/(1-rate), drawn as Philox(seed, step,
// key).uniform(n * C + c) < rate. Attributes n, c, rate, key (, type).
const Operation& spatial_dropout_scale() {
  static const Operation operation = {
      "spatial_dropout_scale", infer_dropout,           nullptr, nullptr, whole, {},
      /*cheap=*/false,         /*depends_on_step=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
