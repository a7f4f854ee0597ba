// Instance normalisation: its statistics, and its fusion with leaky ReLU, dropout and residual.
#include <limits>

#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Instance normalisation, leaky ReLU, dropout and residual, fused into one pass over memory because they are
// memory-bound. The backward pass takes two: sums, then dx.

namespace {

// Checks x, statistics, gamma, beta, the first inputs of all three operations on volumes.
void check_norm(const Graph& graph, const Ids& inputs) {
  assert(inputs.size() >= 4);
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5 && shape_of(graph, inputs[1]) == (Shape{x[0], x[4], 2}));
  assert(shape_of(graph, inputs[2]) == Shape{x[4]} && shape_of(graph, inputs[3]) == Shape{x[4]});
}

// The optional scale[N,C] at `position`.
void check_scale(const Graph& graph, const Ids& inputs, const Attributes& attributes, std::size_t position) {
  if (!attributes.flag("has_scale")) return;
  const Shape& x = shape_of(graph, inputs[0]);
  assert(inputs.size() > position && shape_of(graph, inputs[position]) == (Shape{x[0], x[4]}));
}

Specs infer_activation(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 4);
  const bool residual = attributes.flag("has_residual");
  assert(inputs.size() == 4u + attributes.flag("has_scale") + residual);
  assert(!residual || shape_of(graph, inputs.back()) == shape_of(graph, inputs[0]));
  return like(graph, inputs[0]);
}

Specs infer_sums(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 5);
  assert(inputs.size() == 5u + attributes.flag("has_scale"));
  return {{shape_of(graph, inputs[1]), full_type(graph, inputs[0])}};
}

Specs infer_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 6);
  assert(inputs.size() == 6u + attributes.flag("has_scale"));
  assert(shape_of(graph, inputs[5]) == shape_of(graph, inputs[1]));
  return like(graph, inputs[0]);
}

Specs infer_parameter_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 3);
  const ValueSpec per_channel = {{shape_of(graph, inputs[0])[1]}, graph.value(inputs[0]).type};
  return {per_channel, per_channel};
}

// dx treats the statistics as functions of x. If they are constants, dx is the limit for infinitely many
// voxels.
Ids gradient_activation(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  const ValueId dy = output_gradients[0];
  const bool has_scale = node.attributes.flag("has_scale");
  const Attributes attributes = {{"slope", node.attributes.real("slope")},
                                 {"has_scale", has_scale ? 1.0 : 0.0}};
  Ids gradients(node.inputs.size(), none);
  if (node.attributes.flag("has_residual") && wanted.back()) gradients.back() = dy;
  if (!wanted[0] && !wanted[2] && !wanted[3]) return gradients;

  Ids inputs(node.inputs.begin(), node.inputs.begin() + 4);
  inputs.push_back(dy);
  Ids with_scale = inputs;
  if (has_scale) with_scale.push_back(node.inputs[4]);
  const ValueId sums = graph.apply("norm_activation_sums", node.name + ".sums", with_scale, attributes);
  if (wanted[2] || wanted[3]) {
    const NodeId made = graph.add("norm_parameter_gradient", node.name + ".parameter_gradient", {sums});
    if (wanted[2]) gradients[2] = graph.node(made).outputs[0];
    if (wanted[3]) gradients[3] = graph.node(made).outputs[1];
  }
  if (wanted[0]) {
    const Shape& x = shape_of(graph, node.inputs[0]);
    double normed_together = static_cast<double>(voxels(x));  // a slab of x does not tell
    if (node.attributes.flag("batch")) normed_together *= static_cast<double>(x[0]);
    if (node.attributes.flag("constant")) normed_together = std::numeric_limits<double>::infinity();
    inputs.push_back(node.attributes.flag("batch")
                         ? graph.apply("sums_of_batch", node.name + ".batch_sums", {sums})
                         : sums);
    if (has_scale) inputs.push_back(node.inputs[4]);
    Attributes with_voxels = attributes;
    with_voxels.set("voxels", normed_together);
    gradients[0] = graph.apply("norm_activation_gradient", node.name + ".norm_gradient", inputs, with_voxels);
  }
  return gradients;
}

}  // namespace

// x, statistics, gamma[C], beta[C] (, scale[N,C]) (, residual like x) -> y; over x. z = gamma (x - mean) /
// deviation + beta, y = (z > 0 ? z : slope z) * scale + residual. Attributes slope, has_scale, has_residual
// (, batch: the statistics are of all samples together, batch_norm.cpp; constant: they do not depend on x).
const Operation& norm_activation() {
  static const Operation operation = {"norm_activation", infer_activation, gradient_activation,
                                      per_element<6>,    planewise,        {{0, 0}},
                                      /*cheap=*/true};
  return operation;
}

// x, statistics, gamma, beta, dy (, scale) -> [N,C,2] full: sum dz, sum dz xhat over D,H,W; dz = dy * scale
// * (z > 0 ? 1 : slope), xhat = (x - mean) / deviation. Attributes slope, has_scale.
const Operation& norm_activation_sums() {
  static const Operation operation = {"norm_activation_sums", infer_sums, nullptr, per_element<8>,
                                      summed("norm_activation_plane_sums", "add_planes")};
  return operation;
}

// like norm_activation_sums -> [N,D,C,2] f64: its sums for each plane.
const Operation& norm_activation_plane_sums() {
  static const Operation operation = {"norm_activation_plane_sums", infer_sums_of_planes<2>, nullptr,
                                      per_element<8>, whole};
  return operation;
}

// x, statistics, gamma, beta, dy, sums (, scale) -> dx; over dy. dx = gamma / deviation (dz - sums0 / V -
// xhat sums1 / V), V = voxels normalised together (D H W of the whole volume, of all samples for batch norm).
// Attributes slope, has_scale, voxels (V).
const Operation& norm_activation_gradient() {
  static const Operation operation = {
      "norm_activation_gradient", infer_gradient, nullptr, per_element<10>, planewise, {{0, 4}}};
  return operation;
}

// sums[N,C,2] -> dgamma[C] = sum over N of sums1, dbeta[C] = sum over N of sums0, full.
const Operation& norm_parameter_gradient() {
  static const Operation operation = {"norm_parameter_gradient", infer_parameter_gradient, nullptr,
                                      per_element<1>, whole};
  return operation;
}

// Statistics of instance normalisation (Ulyanov et al. 2016), per sample and channel over the whole volume.
// They are separate from norm_activation, which applies them, because the backward pass needs to keep only
// them.

namespace {

Specs infer_instance_norm(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5);
  return {{{x[0], x[4], 2}, full_type(graph, inputs[0])}};
}

}  // namespace

// x -> [N,C,2] full: mean, 1/sqrt(variance + epsilon). Attribute epsilon.
const Operation& instance_norm_statistics() {
  static const Operation operation = {"instance_norm_statistics", infer_instance_norm, no_gradient,
                                      per_element<4>, summed("plane_moments", "statistics_of_planes")};
  return operation;
}

// x -> [N,D,C,2] f64: mean of each plane, and sum of squared differences from it.
const Operation& plane_moments() {
  static const Operation operation = {"plane_moments", infer_sums_of_planes<2>, nullptr, per_element<4>,
                                      whole};
  return operation;
}

}  // namespace voxswap::net::ops
