// 3D convolution and its two gradients. The data gradient is also the transposed convolution, so each of the
// three differentiates into the others.
#include <algorithm>

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
std::vector<ValueSpec> outputs_of(ValueSpec y, const Attributes& attributes) {
  const Shape shape = y.shape;
  if (!attributes.flag("moments")) return {std::move(y)};
  return {std::move(y), {{shape[0], shape[1], shape[4], 2}, ElementType::f64}};
}

std::vector<ValueSpec> infer_conv3d(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const Attributes& attributes) {
  assert(inputs.size() == 2 || inputs.size() == 3);
  const Shape &x = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  assert(x.rank() == 5 && w.rank() == 5 && x[4] == w[1]);
  assert(inputs.size() == 2 || shape_of(graph, inputs[2]) == Shape{w[0]});
  return outputs_of({convolved(x, w, attributes), graph.value(inputs[0]).type}, attributes);
}

std::vector<ValueSpec> infer_conv3d_sum(const Graph& graph, const std::vector<ValueId>& inputs,
                                        const Attributes& attributes) {
  assert(inputs.size() == 3);
  const Shape &x = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  assert(x.rank() == 5 && w.rank() == 5 && x[4] == w[1]);
  assert(shape_of(graph, inputs[2]) == convolved(x, w, attributes));
  assert(graph.value(inputs[2]).type == graph.value(inputs[0]).type);
  return outputs_of({shape_of(graph, inputs[2]), graph.value(inputs[2]).type}, attributes);
}

std::vector<ValueSpec> infer_data_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                           const Attributes& attributes) {
  assert(inputs.size() == 2 || inputs.size() == 3);
  const Shape &dy = shape_of(graph, inputs[0]), &w = shape_of(graph, inputs[1]);
  const Shape dx = {dy[0], attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), w[1]};
  assert(convolved(dx, w, attributes) == dy);
  assert(inputs.size() == 2 || shape_of(graph, inputs[2]) == Shape{w[1]});
  return {{dx, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_weight_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                             const Attributes& attributes) {
  assert(inputs.size() == 2);
  const Shape &x = shape_of(graph, inputs[0]), &dy = shape_of(graph, inputs[1]);
  const KernelAxes axes = kernel_axes(attributes);
  const Shape dw = {dy[4], x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel};
  assert(output_shape(x, axes, dy[4]) == dy);
  const ElementType type = full_type(graph, inputs[0]);
  std::vector<ValueSpec> outputs = {{dw, type}};
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
std::vector<ValueId> gradient_of_convolution(Graph& graph, const Node& node, ValueId dy, bool bias,
                                             const std::vector<bool>& wanted) {
  std::vector<ValueId> gradients(node.inputs.size(), none);
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

std::vector<ValueId> gradient_conv3d(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                     const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  return gradient_of_convolution(graph, node, output_gradients[0], node.inputs.size() == 3 && wanted[2],
                                 wanted);
}

std::vector<ValueId> gradient_conv3d_sum(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                         const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  std::vector<ValueId> gradients =
      gradient_of_convolution(graph, node, output_gradients[0], /*bias=*/false, wanted);
  gradients[2] = output_gradients[0];
  return gradients;
}

// Gradients of the transposed convolution x -> y. Compared with a convolution, y is the input and x the
// output.
std::vector<ValueId> gradient_data_gradient(Graph& graph, NodeId id,
                                            std::span<const ValueId> output_gradients,
                                            const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  const ValueId dy = output_gradients[0];
  std::vector<ValueId> gradients(node.inputs.size(), none);
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

// A geometry that gives a test case to each of the three operations.
struct Geometry {
  std::string name;
  Shape x;  // N,D,H,W,I
  std::int64_t outputs;
  KernelAxes axes;
  bool bias;

  Shape w() const { return {outputs, x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel}; }
  Attributes attributes() const { return attributes_of(axes); }
  Shape y() const { return output_shape(x, axes, outputs); }
};

KernelAxes anisotropic(std::int64_t kernel, const std::array<std::int64_t, 3>& strides) {
  KernelAxes axes = cube(kernel, 1, kernel / 2);
  for (std::size_t i = 0; i < 3; ++i) axes[i].stride = strides[i];
  return axes;
}

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> list = {
      {"one voxel", {1, 1, 1, 1, 1}, 1, cube(1, 1, 0), true},
      {"kernel larger than the volume", {1, 2, 1, 2, 5}, 3, cube(3, 1, 1), true},
      {"odd channels, unequal sides", {1, 5, 7, 6, 3}, 5, cube(3, 1, 1), true},
      {"odd channels, stride 2, odd sides", {2, 7, 6, 9, 3}, 4, cube(3, 2, 1), true},
      {"batch of two, no bias", {2, 4, 5, 6, 4}, 20, cube(3, 1, 1), false},
      {"no padding", {1, 5, 6, 4, 4}, 3, cube(3, 1, 0), true},
      {"20 to 16, long row", {1, 3, 4, 35, 20}, 16, cube(3, 1, 1), true},
      {"kernel 1, odd channels", {2, 3, 5, 7, 5}, 3, cube(1, 1, 0), true},
      {"kernel 2, stride 2", {1, 6, 4, 8, 16}, 32, cube(2, 2, 0), false},
      {"kernel 2, stride 2, odd channels, batch of two", {2, 4, 6, 2, 3}, 5, cube(2, 2, 0), true},
      {"isensee2017 first: 4 to 16", {1, 8, 10, 12, 4}, 16, cube(3, 1, 1), true},
      {"one channel to 16", {1, 6, 8, 10, 1}, 16, cube(3, 1, 1), true},
      {"isensee2017 16 to 16", {1, 8, 10, 12, 16}, 16, cube(3, 1, 1), true},
      {"several tiles, batch of two: 16 to 16", {2, 5, 9, 19, 16}, 16, cube(3, 1, 1), true},
      {"several tiles: 8 to 16", {1, 6, 10, 18, 8}, 16, cube(3, 1, 1), true},
      {"isensee2017 16 to 32, stride 2", {1, 8, 12, 10, 16}, 32, cube(3, 2, 1), true},
      {"isensee2017 32 to 16", {1, 6, 8, 10, 32}, 16, cube(3, 1, 1), true},
      {"isensee2017 32 to 32", {1, 6, 4, 8, 32}, 32, cube(3, 1, 1), true},
      {"isensee2017 32 to 32, kernel 1", {1, 6, 8, 10, 32}, 32, cube(1, 1, 0), true},
      {"isensee2017 head: 16 to 3, kernel 1", {1, 8, 10, 12, 16}, 3, cube(1, 1, 0), true},
      {"head whose voxels divide by 8 alone: 16 to 3, kernel 1", {1, 1, 10, 12, 16}, 3, cube(1, 1, 0), false},
      {"three planes become two: 17 to 5, stride 2", {1, 3, 6, 7, 17}, 5, cube(3, 2, 1), true},
      {"isensee2017 deep: 64 to 128, stride 2", {1, 4, 4, 6, 64}, 128, cube(3, 2, 1), true},
      {"image, 3x3, odd channels", {2, 1, 7, 9, 3}, 5, square(3, 1, 1), true},
      {"image, 3x3, 16 to 32", {1, 1, 10, 12, 16}, 32, square(3, 1, 1), false},
      {"image, 7x7, stride 2: 3 to 64", {1, 1, 15, 18, 3}, 64, square(7, 2, 3), false},
      {"image, 3x3, stride 2: 16 to 16", {2, 1, 9, 12, 16}, 16, square(3, 2, 1), false},
      {"image, 1x1, stride 2: 16 to 32", {2, 1, 8, 7, 16}, 32, square(1, 2, 0), false},
      {"image, 1x1, stride 2, odd channels", {1, 1, 5, 6, 5}, 3, square(1, 2, 0), true},
      {"image, 3x3, dilation 2: 16 to 32", {1, 1, 9, 11, 16}, 32, square(3, 1, 2, 2), false},
      {"image, 3x3, dilation 6: 32 to 16", {1, 1, 14, 13, 32}, 16, square(3, 1, 6, 6), false},
      {"image, 3x3, dilation 12, wider than the image", {2, 1, 9, 17, 16}, 16, square(3, 1, 12, 12), true},
      {"image, 3x3, stride 2, dilation 2, odd channels", {1, 1, 11, 10, 3}, 5, square(3, 2, 2, 2), true},
      {"dilation 2 along all axes", {1, 7, 6, 8, 4}, 16, cube(3, 1, 2, 2), true},
      {"flat kernel over planes", {1, 4, 6, 7, 16}, 16, square(3, 1, 1), true},
      {"flat kernel, stride 1x2x2: 16 to 32", {1, 5, 8, 7, 16}, 32, square(3, 2, 1), false},
      {"3x3x3, stride 1x2x2: 16 to 32", {1, 5, 8, 9, 16}, 32, anisotropic(3, {1, 2, 2}), true},
      {"3x3x3, stride 2x1x2, odd channels", {2, 5, 4, 7, 3}, 5, anisotropic(3, {2, 1, 2}), true},
      {"image of rows as planes, 7x7, stride 2: 3 to 64", {1, 15, 1, 18, 3}, 64, of_rows(7, 2, 3), false},
      {"image of rows as planes, 3x3, stride 2, odd channels", {2, 9, 1, 7, 5}, 3, of_rows(3, 2, 1), true},
      {"image of rows as planes, 3x3, dilation 6: 32 to 16",
       {1, 14, 1, 13, 32},
       16,
       of_rows(3, 1, 6, 6),
       false},
      {"image of rows as planes, 3x3, dilation 12, wider than the image",
       {2, 9, 1, 17, 16},
       16,
       of_rows(3, 1, 12, 12),
       true},
      {"image of one row, 3x3: 4 to 16", {1, 1, 1, 9, 4}, 16, of_rows(3, 1, 1), false},
      {"image, 7x7, few rows: 3 to 8", {1, 1, 6, 9, 3}, 8, square(7, 1, 3), true},
      {"flat kernel, stride 1x2x1, rows of one voxel: 32 to 16",
       {2, 6, 1, 4, 32},
       16,
       {KernelAxis{}, {3, 2, 1, 1, 1}, {3, 1, 1, 1, 1}},
       true},
      {"kernel 1x2x2, stride 1x2x2", {1, 3, 4, 6, 16}, 8, square(2, 2, 0), false},
  };
  return list;
}

// No voxel is covered by two kernels.
bool is_patchwise(const KernelAxes& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const KernelAxis& axis) {
    return axis.kernel == axis.stride && axis.before == 0 && axis.behind == 0;
  });
}

std::vector<OperationCase> cases_conv3d() {
  std::vector<OperationCase> cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.x), full(g.w())}, g.attributes(), {}};
    if (g.bias) example.inputs.push_back(full({g.outputs}));
    cases.push_back(std::move(example));
  }
  return cases;
}

std::vector<OperationCase> cases_conv3d_sum() {
  std::vector<OperationCase> cases;
  for (const Geometry& g : geometries())
    cases.push_back({g.name, {activation(g.x), full(g.w()), activation(g.y())}, g.attributes(), {}});
  return cases;
}

std::vector<OperationCase> cases_data_gradient() {
  std::vector<OperationCase> cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.y()), full(g.w())}, g.attributes(), {}};
    example.attributes.set("d", static_cast<double>(g.x[1]));
    example.attributes.set("h", static_cast<double>(g.x[2]));
    example.attributes.set("w", static_cast<double>(g.x[3]));
    cases.push_back(example);
    // The transposed convolution has a bias.
    if (is_patchwise(g.axes) || g.name.starts_with("odd")) {
      example.name += ", with bias";
      example.inputs.push_back(full({g.x[4]}));
      cases.push_back(std::move(example));
    }
  }
  return cases;
}

std::vector<OperationCase> cases_weight_gradient() {
  std::vector<OperationCase> cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.x), activation(g.y())}, g.attributes(), {}};
    set_kernel(example.attributes, g.axes);
    example.attributes.set("bias", g.bias);
    const std::int64_t planes = g.y()[1], block = 2;
    if (planes > block) {  // the last block is shorter if the number of planes is odd
      set_sum_blocks(example.attributes, block, (planes + block - 1) / block);
    }
    cases.push_back(std::move(example));
  }
  return cases;
}

}  // namespace

// x, w[O,I,kd,kh,kw] (, b[O]) -> y; zero padding. Attributes stride, padding (, dilation), for all axes or
// per axis (net/graph/axes.h): output side = (n + 2 padding - (k - 1) dilation - 1) / stride + 1.
// Attributes front and back, if present, are the padding before and behind the volume along the depth, also
// for the three operations below. Attribute moments: also outputs the moments of y's planes (plane_moments),
// which have no gradient (net/graph/fused_moments.h).
const Operation& conv3d() {
  static const Operation operation = {"conv3d",
                                      infer_conv3d,
                                      gradient_conv3d,
                                      flops_conv3d,
                                      {},
                                      /*cheap=*/false,
                                      windowed(window_conv3d),
                                      cases_conv3d()};
  return operation;
}

// x, w, s like y -> y = s + convolution of x, without bias; over s. Attributes as conv3d, including moments.
const Operation& conv3d_sum() {
  static const Operation operation = {"conv3d_sum",
                                      infer_conv3d_sum,
                                      gradient_conv3d_sum,
                                      flops_conv3d,
                                      {{0, 2}},
                                      /*cheap=*/false,
                                      windowed(window_conv3d, 0, 2),
                                      cases_conv3d_sum()};
  return operation;
}

// dy, w[O,I,kd,kh,kw] (, b[I]) -> dx[N,d,h,w,I]. Attributes as conv3d, and d, h, w (of dx). With a bias,
// which is added to every voxel of dx, it is also the transposed convolution.
const Operation& conv3d_data_gradient() {
  static const Operation operation = {"conv3d_data_gradient",
                                      infer_data_gradient,
                                      gradient_data_gradient,
                                      flops_data_gradient,
                                      {},
                                      /*cheap=*/false,
                                      windowed(window_data_gradient),
                                      cases_data_gradient()};
  return operation;
}

// x, dy -> dw[O,I,kd,kh,kw] full, and db[O] full if `bias`. Attributes as conv3d, and kernel, bias. block,
// blocks and apart define the blocks of planes of dy for summation (net/graph/block_sums.h). With nodes, the
// separate sums are those of tree nodes over blocks, starting at block `first`.
const Operation& conv3d_weight_gradient() {
  static const Operation operation = {"conv3d_weight_gradient",
                                      infer_weight_gradient,
                                      nullptr,
                                      flops_weight_gradient,
                                      {},
                                      /*cheap=*/false,
                                      windowed_sum(window_weight_gradient, 0, 1),
                                      cases_weight_gradient()};
  return operation;
}

}  // namespace voxswap::net::ops
