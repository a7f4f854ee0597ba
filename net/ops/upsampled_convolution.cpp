// Convolution of a nearest-neighbour upsampled volume, computed at the low resolution.
//
// Along an axis, the three taps of the kernel read x[j-1], x[j], x[j] for the even output voxel 2j, and x[j],
// x[j], x[j+1] for the odd one, 2j+1. That is two taps each, one of which is a sum of weights. So there are 8
// kernels of 2^3 taps, one per phase (parity of z, y, x). All 8 are one convolution of x with padding 1 and 8
// times the output channels. It takes 64 products per input voxel instead of 216, and the upsampled x is
// never stored. The output z has the phases side by side in its channels; `interleave` rearranges them:
//   y[2j + p] = z[j + p], channels of phase p.
// This is the sub-pixel convolution of Shi et al., "Real-Time Single Image and Video Super-Resolution Using
// an Efficient Sub-Pixel Convolutional Neural Network" (2016), with the kernels that follow from upsampling.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

constexpr std::int64_t phases = 8;

Specs infer_weights(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& w = shape_of(graph, inputs[0]);
  assert(w.rank() == 5 && w[2] == 3 && w[3] == 3 && w[4] == 3);
  return {{{phases * w[0], w[1], 2, 2, 2}, graph.value(inputs[0]).type}};
}

Specs infer_weights_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& dw = shape_of(graph, inputs[0]);
  assert(dw.rank() == 5 && dw[0] % phases == 0 && dw[2] == 2 && dw[3] == 2 && dw[4] == 2);
  return {{{dw[0] / phases, dw[1], 3, 3, 3}, graph.value(inputs[0]).type}};
}

Ids gradient_of_weights(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  return {
      graph.apply("upsampled_weights_gradient", graph.node(id).name + ".gradient", {output_gradients[0]})};
}

Specs infer_interleave(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& z = shape_of(graph, inputs[0]);
  assert(z.rank() == 5 && z[1] > 1 && z[2] > 1 && z[3] > 1 && z[4] % phases == 0);
  return {
      {{z[0], 2 * (z[1] - 1), 2 * (z[2] - 1), 2 * (z[3] - 1), z[4] / phases}, graph.value(inputs[0]).type}};
}

Specs infer_interleave_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 1);
  const Shape& dy = shape_of(graph, inputs[0]);
  const std::int64_t depth = attributes.integer_or("depth", dy[1] / 2 + 1);
  assert(dy.rank() == 5 && dy[2] % 2 == 0 && dy[3] % 2 == 0);

  return {{{dy[0], depth, dy[2] / 2 + 1, dy[3] / 2 + 1, phases * dy[4]}, graph.value(inputs[0]).type}};
}

Ids gradient_of_interleave(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  return {graph.apply("interleave_gradient", graph.node(id).name + ".gradient", {output_gradients[0]})};
}

}  // namespace

// w[O,I,3,3,3] -> [8 O,I,2,2,2], full: kernels of the 8 phases of a convolution of an upsampled volume. Phase
// p = 4 pz + 2 py + px has row p O + o. Along an axis, tap k of the 3 is added to tap (k + 1 - p) / 2 of the
// 2.
const Operation& upsampled_weights() {
  static const Operation operation = {
      "upsampled_weights", infer_weights, gradient_of_weights, nullptr, whole, {}, /*cheap=*/true};
  return operation;
}

// gradient of upsampled_weights -> dw[O,I,3,3,3], full.
const Operation& upsampled_weights_gradient() {
  static const Operation operation = {"upsampled_weights_gradient", infer_weights_gradient, nullptr, nullptr,
                                      whole};
  return operation;
}

// z[N,d+1,h+1,w+1,8 C] -> y[N,2d,2h,2w,C]: y[2 j + p] = z[j + p], channels p C + c. Not cheap: to recompute
// it, its input must be recomputed, a convolution.
const Operation& interleave() {
  static const Operation operation = {"interleave", infer_interleave, gradient_of_interleave, nullptr,
                                      windowed(window_interleave, 0, none, 2)};
  return operation;
}

// dy -> dz; zero for elements that interleave does not read. Attributes depth (of dz) and shift, 0 when
// absent: plane j of dz comes from planes 2 j - p + shift of dy.
const Operation& interleave_gradient() {
  static const Operation operation = {"interleave_gradient", infer_interleave_gradient, nullptr, nullptr,
                                      windowed(window_interleave_gradient)};
  return operation;
}

}  // namespace voxswap::net::ops
