// A convolution of a volume of twice the sides (nearest neighbour), computed on the small one.
//
// Along an axis an even voxel 2j of the large volume sees x[j-1], x[j], x[j] through the three taps of the
// kernel, an odd one 2j+1 sees x[j], x[j], x[j+1]: two taps each, of which one is a sum. So there are 8
// kernels of 2^3 taps, one per phase (parity of z, y, x), and all of them are one convolution of x with
// padding 1 and 8 times the output channels: 64 products per small voxel instead of 216, and no large volume
// with the channels of x. Its output z has the phases side by side in the channels; `interleave` puts them
// where they belong:
//   y[2j + p] = z[j + p], channels of phase p.
// The sub-pixel convolution of Shi et al., "Real-Time Single Image and Video Super-Resolution Using an
// Efficient Sub-Pixel Convolutional Neural Network" (2016), with the kernels that upsampling would give.
#include "net/ops/windows.h"

namespace voxswap::net::ops {

namespace {

constexpr std::int64_t phases = 8;

std::vector<ValueSpec> infer_weights(const Graph& graph, const std::vector<ValueId>& inputs,
                                     const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& w = shape_of(graph, inputs[0]);
  assert(w.rank() == 5 && w[2] == 3 && w[3] == 3 && w[4] == 3);
  return {{{phases * w[0], w[1], 2, 2, 2}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_weights_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                              const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& dw = shape_of(graph, inputs[0]);
  assert(dw.rank() == 5 && dw[0] % phases == 0 && dw[2] == 2 && dw[3] == 2 && dw[4] == 2);
  return {{{dw[0] / phases, dw[1], 3, 3, 3}, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient_of_weights(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                         const std::vector<bool>&) {
  return {
      graph.apply("upsampled_weights_gradient", graph.node(id).name + ".gradient", {output_gradients[0]})};
}

std::vector<ValueSpec> infer_interleave(const Graph& graph, const std::vector<ValueId>& inputs,
                                        const Attributes&) {
  assert(inputs.size() == 1);
  const Shape& z = shape_of(graph, inputs[0]);
  assert(z.rank() == 5 && z[1] > 1 && z[2] > 1 && z[3] > 1 && z[4] % phases == 0);
  return {
      {{z[0], 2 * (z[1] - 1), 2 * (z[2] - 1), 2 * (z[3] - 1), z[4] / phases}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_interleave_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                                 const Attributes& attributes) {
  assert(inputs.size() == 1);
  const Shape& dy = shape_of(graph, inputs[0]);
  const std::int64_t depth = attributes.integer_or("depth", dy[1] / 2 + 1);
  assert(dy.rank() == 5 && dy[2] % 2 == 0 && dy[3] % 2 == 0);

  return {{{dy[0], depth, dy[2] / 2 + 1, dy[3] / 2 + 1, phases * dy[4]}, graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient_of_interleave(Graph& graph, NodeId id,
                                            std::span<const ValueId> output_gradients,
                                            const std::vector<bool>&) {
  return {graph.apply("interleave_gradient", graph.node(id).name + ".gradient", {output_gradients[0]})};
}

OperationCase weights_case(std::string name, std::int64_t outputs, std::int64_t inputs) {
  return {std::move(name), {full({outputs, inputs, 3, 3, 3})}, {}, {}};
}
OperationCase weights_gradient_case(std::string name, std::int64_t outputs, std::int64_t inputs) {
  return {std::move(name), {full({phases * outputs, inputs, 2, 2, 2})}, {}, {}};
}
OperationCase volume_case(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

// w[O,I,3,3,3] -> [8 O,I,2,2,2], full: kernels of the 8 phases of a convolution of an upsampled volume
// (ops/upsampled_convolution.cpp): phase p = 4 pz + 2 py + px has row p O + o; along an axis tap k of the 3
// is added to tap (k + 1 - p) / 2 of the 2.
const Operation& upsampled_weights() {
  static const Operation operation = {"upsampled_weights",
                                      infer_weights,
                                      gradient_of_weights,
                                      nullptr,
                                      {},
                                      /*cheap=*/true,
                                      whole,
                                      {weights_case("one to one", 1, 1), weights_case("odd channels", 3, 5),
                                       weights_case("32 to 16", 16, 32)}};
  return operation;
}

// their gradient -> dw[O,I,3,3,3], full.
const Operation& upsampled_weights_gradient() {
  static const Operation operation = {
      "upsampled_weights_gradient",
      infer_weights_gradient,
      nullptr,
      nullptr,
      {},
      /*cheap=*/false,
      whole,
      {weights_gradient_case("one to one", 1, 1), weights_gradient_case("odd channels", 3, 5),
       weights_gradient_case("32 to 16", 16, 32)}};
  return operation;
}

// z[N,d+1,h+1,w+1,8 C] -> y[N,2d,2h,2w,C]: y[2 j + p] = z[j + p], channels p C + c.
const Operation& interleave() {
  static const Operation operation = {
      "interleave",
      infer_interleave,
      gradient_of_interleave,
      nullptr,
      {},
      /*cheap=*/false,  // its input is gone by then, and that is a convolution
      windowed(window_interleave, 0, none, 2),
      {volume_case("one block", {1, 2, 2, 2, 8}), volume_case("odd channels, batch of two", {2, 3, 4, 6, 24}),
       volume_case("16 channels", {1, 4, 5, 6, 128}), volume_case("20 channels", {1, 5, 2, 4, 160})}};
  return operation;
}

// dy -> dz; zero where no voxel comes from. Attributes depth (of dz) and shift, 0 when absent: plane j of
// dz comes from the planes 2 j - p + shift of dy.
const Operation& interleave_gradient() {
  static const Operation operation = {
      "interleave_gradient",
      infer_interleave_gradient,
      nullptr,
      nullptr,
      {},
      /*cheap=*/false,
      windowed(window_interleave_gradient),
      {volume_case("one block", {1, 2, 2, 2, 1}), volume_case("odd channels, batch of two", {2, 4, 6, 10, 3}),
       volume_case("16 channels", {1, 6, 8, 10, 16}), volume_case("20 channels", {1, 8, 2, 6, 20})}};
  return operation;
}

}  // namespace voxswap::net::ops
