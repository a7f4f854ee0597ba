// 3D convolution and its two gradients. The data gradient is also the transposed convolution, so each of the
// three differentiates into the others.
#include "net/graph/axes.h"
#include "net/graph/block_sums.h"
#include "net/graph/window.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

// Shape of the convolution of `x`, with O channels.
Shape convolved(const Shape& x, const Shape& w, const Attributes& attributes) {
  return output_shape(x, kernel_axes(attributes, w), w[0]);
}

// Two per multiply-add. Voxels at the border count like the others. `y` is the small side: each of its voxels
// uses one row of weights.
double convolution_flops(const Shape& y, const Shape& w) {
  return 2.0 * static_cast<double>(y[0] * voxels(y)) * static_cast<double>(w.count());
}

// Outputs of a convolution: `y`, and the moments of its planes (as plane_moments makes them) if requested.
Specs outputs_of(ValueSpec y, const Attributes& attributes) {
  const Shape shape = y.shape;
  if (!attributes.flag("moments")) return {std::move(y)};
  return {std::move(y), {{shape[0], shape[1], shape[4], 2}, ElementType::f64}};
}

Specs infer_conv3d(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2 || inputs.size() == 3);
  const Shape &x = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  assert(x.rank() == 5 && w.rank() == 5 && x[4] == w[1]);
  assert(inputs.size() == 2 || shape_of(graph, inputs[2]) == Shape{w[0]});
  return outputs_of({convolved(x, w, attributes), graph.value(inputs[0]).type}, attributes);
}

Specs infer_conv3d_sum(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 3);
  const Shape &x = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  assert(x.rank() == 5 && w.rank() == 5 && x[4] == w[1]);
  assert(shape_of(graph, inputs[2]) == convolved(x, w, attributes));
  assert(graph.value(inputs[2]).type == graph.value(inputs[0]).type);
  return outputs_of({shape_of(graph, inputs[2]), graph.value(inputs[2]).type}, attributes);
}

Specs infer_data_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2 || inputs.size() == 3);
  const Shape &dy = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  const Shape dx = {dy[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), w[1]};
  assert(convolved(dx, w, attributes) == dy);
  assert(inputs.size() == 2 || shape_of(graph, inputs[2]) == Shape{w[1]});
  return {{dx, graph.value(inputs[0]).type}};
}

Specs infer_weight_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2);
  const Shape &x = shape_of(graph, inputs[0]), &dy = shape_of(graph, inputs[1]);
  const KernelAxes axes = kernel_axes(attributes);
  const Shape dw = {dy[4], x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel};
  assert(output_shape(x, axes, dy[4]) == dy);
  const ElementType type = full_type(graph, inputs[0]);
  Specs outputs = {{dw, type}};
  if (attributes.flag("bias")) outputs.push_back({Shape{dy[4]}, type});
  if (!attributes.flag("apart")) return outputs;
  const std::int64_t blocks = sum_blocks(attributes, dy[1]).here;
  const std::vector<Blocks> nodes = tree_nodes({attributes.integer_or("first", 0), blocks});
  for (ValueSpec& output : outputs) {
    std::vector<std::int64_t> sides = {attributes.flag("nodes") ? static_cast<std::int64_t>(nodes.size())
                                                                : blocks};
    sides.insert(sides.end(), output.shape.extents().begin(), output.shape.extents().end());
    output.shape = Shape(sides);
  }
  return outputs;
}

// Attributes of the weight gradient for a node whose second input is the weights.
Attributes weight_gradient_attributes(const Graph& graph, const Node& node) {
  Attributes attributes = kernel_attributes(node.attributes);
  set_kernel(attributes, kernel_axes(node.attributes, shape_of(graph, node.inputs[1])));
  return attributes;
}

ValueId add_data_gradient(Graph& graph, const Node& node, ValueId dy) {
  const Shape x = shape_of(graph, node.inputs[0]);
  Attributes attributes = kernel_attributes(node.attributes);
  attributes.set("d", static_cast<double>(x[1]));
  attributes.set("h", static_cast<double>(x[2]));
  attributes.set("w", static_cast<double>(x[3]));
  return graph.apply("conv3d_data_gradient", node.name + ".data_gradient", {dy, node.inputs[1]}, attributes);
}

// The gradients of weight and bias come before that of x, which is as large as x. They read a copy of x,
// often recomputed just for them, which can then be freed before the gradient of x is allocated.
Ids gradient_of_convolution(Graph& graph, const Node& node, ValueId dy, bool bias, const Wanted& wanted) {
  Ids gradients(node.inputs.size(), none);
  if (wanted[1]) {
    Attributes attributes = weight_gradient_attributes(graph, node);
    attributes.set("bias", bias);
    const NodeId made =
        graph.add("conv3d_weight_gradient", node.name + ".weight_gradient", {node.inputs[0], dy}, attributes);
    gradients[1] = graph.node(made).outputs[0];
    if (bias) gradients[2] = graph.node(made).outputs[1];
  } else if (bias) {
    gradients[2] = graph.apply("channel_sum", node.name + ".bias_gradient", {dy});
  }
  if (wanted[0]) gradients[0] = add_data_gradient(graph, node, dy);
  return gradients;
}

Ids gradient_conv3d(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  return gradient_of_convolution(graph, node, output_gradients[0], node.inputs.size() == 3 && wanted[2],
                                 wanted);
}

Ids gradient_conv3d_sum(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  Ids gradients = gradient_of_convolution(graph, node, output_gradients[0], /*bias=*/false, wanted);
  gradients[2] = output_gradients[0];
  return gradients;
}

// Gradients of the transposed convolution x -> y. Compared with a convolution, y is the input and x the
// output.
Ids gradient_data_gradient(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  const ValueId dy = output_gradients[0];
  Ids gradients(node.inputs.size(), none);
  if (wanted[1])
    gradients[1] = graph.apply("conv3d_weight_gradient", node.name + ".weight_gradient", {dy, node.inputs[0]},
                               weight_gradient_attributes(graph, node));
  if (node.inputs.size() == 3 && wanted[2])
    gradients[2] = graph.apply("channel_sum", node.name + ".bias_gradient", {dy});
  if (wanted[0])
    gradients[0] = graph.apply("conv3d", node.name + ".data_gradient", {dy, node.inputs[1]},
                               kernel_attributes(node.attributes));
  return gradients;
}

double flops_conv3d(const Graph& graph, const Node& node) {
  return convolution_flops(shape_of(graph, node.outputs[0]), shape_of(graph, node.inputs[1]));
}
double flops_data_gradient(const Graph& graph, const Node& node) {
  return convolution_flops(shape_of(graph, node.inputs[0]), shape_of(graph, node.inputs[1]));
}
// The sums of several blocks take as many as one sum of all.
double flops_weight_gradient(const Graph& graph, const Node& node) {
  const Shape& dw = shape_of(graph, node.outputs[0]);
  const double sums = node.attributes.flag("apart") ? static_cast<double>(dw[0]) : 1;
  return convolution_flops(shape_of(graph, node.inputs[1]), dw) / sums;
}

}  // namespace

// x, w[O,I,kd,kh,kw] (, b[O]) -> y; zero padding. Attributes stride, padding (, dilation), for all axes or
// per axis (net/graph/axes.h): output side = (n + 2 padding - (k - 1) dilation - 1) / stride + 1.
// Attributes front and back, if present, are the padding before and behind the volume along the depth, also
// for the three operations below. Attribute moments: also outputs the moments of y's planes (plane_moments),
// which have no gradient (net/graph/fused_moments.h).
const Operation& conv3d() {
  static const Operation operation = {"conv3d", infer_conv3d, gradient_conv3d, flops_conv3d,
                                      windowed(window_conv3d)};
  return operation;
}

// x, w, s like y -> y = s + convolution of x, without bias; over s. Attributes as conv3d, including moments.
const Operation& conv3d_sum() {
  static const Operation operation = {
      "conv3d_sum", infer_conv3d_sum, gradient_conv3d_sum, flops_conv3d, windowed(window_conv3d, 0, 2),
      {{0, 2}}};
  return operation;
}

// dy, w[O,I,kd,kh,kw] (, b[I]) -> dx[N,d,h,w,I]. Attributes as conv3d, and d, h, w (of dx). With a bias,
// which is added to every voxel of dx, it is also the transposed convolution.
const Operation& conv3d_data_gradient() {
  static const Operation operation = {"conv3d_data_gradient", infer_data_gradient, gradient_data_gradient,
                                      flops_data_gradient, windowed(window_data_gradient)};
  return operation;
}

// x, dy -> dw[O,I,kd,kh,kw] full, and db[O] full if `bias`. Attributes as conv3d, and kernel, bias. block,
// blocks and apart define the blocks of planes of dy for summation (net/graph/block_sums.h). With nodes, the
// separate sums are those of tree nodes over blocks, starting at block `first`.
const Operation& conv3d_weight_gradient() {
  static const Operation operation = {"conv3d_weight_gradient", infer_weight_gradient, nullptr,
                                      flops_weight_gradient, windowed_sum(window_pool, 0, 1)};
  return operation;
}

}  // namespace voxswap::net::ops
