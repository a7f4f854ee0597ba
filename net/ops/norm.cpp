// Instance normalisation: its statistics, and its fusion with leaky ReLU, dropout and residual.
#include <limits>

#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Instance normalisation, leaky ReLU, dropout and residual, fused into one pass over memory because they are
// memory-bound. The backward pass takes two: sums, then dx.

namespace {

// Checks x, statistics, gamma, beta, the first inputs of all three operations on volumes.
void check_norm(const Graph& graph, const std::vector<ValueId>& inputs) {
  assert(inputs.size() >= 4);
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5 && shape_of(graph, inputs[1]) == (Shape{x[0], x[4], 2}));
  assert(shape_of(graph, inputs[2]) == Shape{x[4]} && shape_of(graph, inputs[3]) == Shape{x[4]});
}

// The optional scale[N,C] at `position`.
void check_scale(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes& attributes,
                 std::size_t position) {
  if (!attributes.flag("has_scale")) return;
  const Shape& x = shape_of(graph, inputs[0]);
  assert(inputs.size() > position && shape_of(graph, inputs[position]) == (Shape{x[0], x[4]}));
}

std::vector<ValueSpec> infer_activation(const Graph& graph, const std::vector<ValueId>& inputs,
                                        const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 4);
  const bool residual = attributes.flag("has_residual");
  assert(inputs.size() == 4u + attributes.flag("has_scale") + residual);
  assert(!residual || shape_of(graph, inputs.back()) == shape_of(graph, inputs[0]));
  return like(graph, inputs[0]);
}

std::vector<ValueSpec> infer_sums(const Graph& graph, const std::vector<ValueId>& inputs,
                                  const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 5);
  assert(inputs.size() == 5u + attributes.flag("has_scale"));
  return {{shape_of(graph, inputs[1]), full_type(graph, inputs[0])}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  check_norm(graph, inputs);
  check_scale(graph, inputs, attributes, 6);
  assert(inputs.size() == 6u + attributes.flag("has_scale"));
  assert(shape_of(graph, inputs[5]) == shape_of(graph, inputs[1]));
  return like(graph, inputs[0]);
}

std::vector<ValueSpec> infer_parameter_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                                const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 3);
  const ValueSpec per_channel = {{shape_of(graph, inputs[0])[1]}, graph.value(inputs[0]).type};
  return {per_channel, per_channel};
}

// dx treats the statistics as functions of x. If they are constants, dx is the limit for infinitely many
// voxels.
std::vector<ValueId> gradient_activation(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                         const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  const ValueId dy = output_gradients[0];
  const bool has_scale = node.attributes.flag("has_scale");
  const Attributes attributes = {{"slope", node.attributes.real("slope")},
                                 {"has_scale", has_scale ? 1.0 : 0.0}};
  std::vector<ValueId> gradients(node.inputs.size(), none);
  if (node.attributes.flag("has_residual") && wanted.back()) gradients.back() = dy;
  if (!wanted[0] && !wanted[2] && !wanted[3]) return gradients;

  std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.begin() + 4);
  inputs.push_back(dy);
  std::vector<ValueId> with_scale = inputs;
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

struct Example {
  std::string name;
  Shape x;
  double slope;
  bool scale, residual, batch = false;
};

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      {"one voxel", {1, 1, 1, 1, 3}, 0.3, false, false},
      {"odd channels", {1, 3, 5, 4, 5}, 0.3, false, false},
      {"batch of two, scale", {2, 3, 4, 5, 3}, 0.3, true, false},
      {"batch of two, scale, residual, 20 channels", {2, 3, 4, 5, 20}, 0.01, true, true},
      {"residual, 16 channels", {1, 7, 5, 9, 16}, 0.3, false, true},
      {"scale, 16 channels", {1, 7, 6, 5, 16}, 0.3, true, false},
      {"ReLU, 32 channels", {1, 4, 6, 8, 32}, 0, false, false},
      {"32 channels, batch of two, residual", {2, 4, 3, 5, 32}, 0.3, false, true},
      {"identity activation, 4 channels", {1, 6, 5, 7, 4}, 1, false, false},
      {"256 channels, few voxels", {1, 2, 3, 2, 256}, 0.3, true, true},
      {"batch norm, images, residual", {3, 1, 5, 7, 16}, 1, false, true, true},
      {"batch norm, ReLU, odd channels", {2, 2, 5, 3, 5}, 0, false, false, true},
  };
  return list;
}

std::vector<Input> norm_inputs(const Shape& x) {
  return {activation(x), full({x[0], x[4], 2}, Fill::statistics), full({x[4]}), full({x[4]})};
}

Attributes example_attributes(const Example& e) {
  return {{"slope", e.slope}, {"has_scale", e.scale ? 1.0 : 0.0}};
}

std::vector<OperationCase> cases_activation() {
  std::vector<OperationCase> cases;
  for (const Example& e : examples()) {
    OperationCase example{e.name, norm_inputs(e.x), example_attributes(e), {}};
    example.attributes.set("has_residual", e.residual);
    if (e.batch) example.attributes.set("batch", 1);
    if (e.scale) example.inputs.push_back(full({e.x[0], e.x[4]}, Fill::positive));
    if (e.residual) example.inputs.push_back(activation(e.x));
    cases.push_back(std::move(example));
  }
  return cases;
}

// Test cases for both passes of the gradient. The second reads the sums of the first.
std::vector<OperationCase> cases_backward(bool with_sums) {
  std::vector<OperationCase> cases;
  for (const Example& e : examples()) {
    OperationCase example{e.name, norm_inputs(e.x), example_attributes(e), {}};
    example.inputs.push_back(activation(e.x));
    if (with_sums) example.inputs.push_back(full({e.x[0], e.x[4], 2}));
    if (with_sums) example.attributes.set("voxels", static_cast<double>(voxels(e.x)));
    if (e.scale) example.inputs.push_back(full({e.x[0], e.x[4]}, Fill::positive));
    cases.push_back(std::move(example));
    if (!with_sums || e.scale) continue;
    cases.push_back(cases.back());
    cases.back().name += ", piece of a larger volume";
    cases.back().attributes.set("voxels", 3.0 * static_cast<double>(voxels(e.x)));
  }
  return cases;
}

}  // namespace

// x, statistics, gamma[C], beta[C] (, scale[N,C]) (, residual like x) -> y; over x. z = gamma (x - mean) /
// deviation + beta, y = (z > 0 ? z : slope z) * scale + residual. Attributes slope, has_scale, has_residual
// (, batch: the statistics are of all samples together, batch_norm.cpp; constant: they do not depend on x).
const Operation& norm_activation() {
  static const Operation operation = {"norm_activation", infer_activation, gradient_activation,
                                      per_element<6>,    {{0, 0}},
                                      /*cheap=*/true,    planewise,        cases_activation()};
  return operation;
}

// x, statistics, gamma, beta, dy (, scale) -> [N,C,2] full: sum dz, sum dz xhat over D,H,W; dz = dy * scale
// * (z > 0 ? 1 : slope), xhat = (x - mean) / deviation. Attributes slope, has_scale.
const Operation& norm_activation_sums() {
  static const Operation operation = {"norm_activation_sums",
                                      infer_sums,
                                      nullptr,
                                      per_element<8>,
                                      {},
                                      /*cheap=*/false,
                                      summed("norm_activation_plane_sums", "add_planes"),
                                      cases_backward(false)};
  return operation;
}

// like norm_activation_sums -> [N,D,C,2] f64: its sums for each plane.
const Operation& norm_activation_plane_sums() {
  static const Operation operation = {"norm_activation_plane_sums",
                                      infer_sums_of_planes<2>,
                                      nullptr,
                                      per_element<8>,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      norm_activation_sums().cases};
  return operation;
}

// x, statistics, gamma, beta, dy, sums (, scale) -> dx; over dy. dx = gamma / deviation (dz - sums0 / V -
// xhat sums1 / V), V = voxels normalised together (D H W of the whole volume, of all samples for batch norm).
// Attributes slope, has_scale, voxels (V).
const Operation& norm_activation_gradient() {
  static const Operation operation = {"norm_activation_gradient",
                                      infer_gradient,
                                      nullptr,
                                      per_element<10>,
                                      {{0, 4}},
                                      /*cheap=*/false,
                                      planewise,
                                      cases_backward(true)};
  return operation;
}

// sums[N,C,2] -> dgamma[C] = sum over N of sums1, dbeta[C] = sum over N of sums0, full.
const Operation& norm_parameter_gradient() {
  static const Operation operation = {"norm_parameter_gradient",
                                      infer_parameter_gradient,
                                      nullptr,
                                      per_element<1>,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      {{"one sample", {full({1, 16, 2})}, {}, {}},
                                       {"three samples, odd channels", {full({3, 5, 2})}, {}, {}}}};
  return operation;
}

// Statistics of instance normalisation (Ulyanov et al. 2016), per sample and channel over the whole volume.
// They are separate from norm_activation, which applies them, because the backward pass needs to keep only
// them.

namespace {

std::vector<ValueSpec> infer_instance_norm(const Graph& graph, const std::vector<ValueId>& inputs,
                                           const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5);
  return {{{x[0], x[4], 2}, full_type(graph, inputs[0])}};
}

// No gradient here: that of norm_activation already treats the statistics as functions of x.
std::vector<ValueId> gradient_instance_norm(Graph&, NodeId, std::span<const ValueId>,
                                            const std::vector<bool>&) {
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
      infer_instance_norm,
      gradient_instance_norm,
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

// x -> [N,D,C,2] f64: mean of each plane, and sum of squared differences from it.
const Operation& plane_moments() {
  static const Operation operation = {"plane_moments",
                                      infer_sums_of_planes<2>,
                                      nullptr,
                                      per_element<4>,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      instance_norm_statistics().cases};
  return operation;
}

}  // namespace voxswap::net::ops
