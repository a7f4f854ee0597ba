// Augmentation of intensities, channel by channel, in units of the normalised image. The channels are apart,
// [C,D,H,W,1], so that a channel without a change costs nothing.
//
// y may overwrite x, and a kernel that does so leaves channels without the change untouched. The voxels
// change in these kernels, intensities.* of each backend. To add a change: CONTRIBUTING.md, "An
// augmentation".
#include "net/graph/drawn_numbers.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

Specs infer_change(const Graph& graph, const Ids& inputs, const Attributes&) {
  const Shape &x = shape_of(graph, inputs[0]), &channels = shape_of(graph, inputs[1]);
  assert(inputs.size() == 2 && x.rank() == 5 && x[4] == 1);
  assert(channels == Shape({x[0], drawn::channel_numbers}));
  assert(graph.value(inputs[1]).type == ElementType::f64);
  return like(graph, inputs[0]);
}

Operation change(std::string_view name, double (*flops)(const Graph&, const Node&)) {
  return {name, infer_change, nullptr, flops, whole, {{0, 0}}};
}

Specs infer_channels_together(const Graph& graph, const Ids& inputs, const Attributes&) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5 && x[4] == 1);
  return {{{1, x[1], x[2], x[3], x[0]}, graph.value(inputs[0]).type}};
}

}  // namespace

// All changes: x [C,D,H,W,1] full, channels f64 [C,channel_numbers] -> y like x; over x. Below, each number
// is that of the voxel's channel (net/graph/drawn_numbers.h).

// x + noise * normal(v), where v is the voxel's number in its channel. Voxels 2p and 2p + 1 get the cosine
// and the sine of a Box-Muller pair from words a = 2p and b = 2p + 1 of the stream, with their upper 23 bits:
// sqrt(-2 log u) cos(2 pi t), u = (a >> 9 + 1/2) 2^-23, t = (b >> 9 + 1/2) 2^-23.
const Operation& add_noise() {
  static const Operation operation = change("add_noise", per_element<40>);
  return operation;
}

// A normalised Gaussian along each axis, truncated at blur_radius(); the edge voxel repeats beyond the edge.
const Operation& gaussian_blur() {
  static const Operation operation = change("gaussian_blur", per_element<54>);
  return operation;
}

// x * brightness + shift
const Operation& scale_and_shift() {
  static const Operation operation = change("scale_and_shift", per_element<2>);
  return operation;
}

// mean + (x - mean) * contrast, clamped to the old range. Mean and range are those of the channel.
const Operation& change_contrast() {
  static const Operation operation = change("change_contrast", per_element<6>);
  return operation;
}

// Linear resampling, with aligned voxel centres, to sides of coarse_side() voxels and back.
const Operation& lower_resolution() {
  static const Operation operation = change("lower_resolution", per_element<12>);
  return operation;
}

// ((x - min) / (max - min))^gamma * (max - min) + min, then scaled and shifted to the old mean and standard
// deviation. A constant channel stays. With the attribute inverted: the same for -x with inverted_gamma,
// negated again.
const Operation& change_gamma() {
  static const Operation operation = change("change_gamma", per_element<40>);
  return operation;
}

// x [C,D,H,W,1] -> y [1,D,H,W,C]
const Operation& channels_together() {
  static const Operation operation = {"channels_together", infer_channels_together, nullptr, nullptr, whole};
  return operation;
}

}  // namespace voxswap::net::ops
