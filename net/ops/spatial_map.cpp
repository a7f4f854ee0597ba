// Spatial augmentation: symmetries, rotation, scaling and elastic deformation, composed into one map and
// interpolated once.
#include "net/graph/drawn_numbers.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

void check_map(const Graph& graph, const Ids& inputs, std::size_t controls) {
  assert(graph.value(inputs[1]).shape == Shape({drawn::space_numbers}));
  assert(graph.value(inputs[1]).type == ElementType::f64);
  assert(inputs.size() <= controls || shape_of(graph, inputs[controls])[0] == 3);
}

Specs infer_spatial_map(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5 && x[0] == 1 && x[4] == shape_of(graph, inputs[2])[0]);
  check_map(graph, inputs, 3);
  if (!attributes.flag("apart")) return like(graph, inputs[0]);
  return {{{x[4], x[1], x[2], x[3], 1}, graph.value(inputs[0]).type}};
}

Specs infer_spatial_map_labels(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(shape_of(graph, inputs[0]).rank() == 5 && shape_of(graph, inputs[0])[4] == 2);
  check_map(graph, inputs, 2);
  return like(graph, inputs[0]);
}

}  // namespace

// x [1,D,H,W,C] full, space f64 [space_numbers], channels f64 [C,channel_numbers], (controls full [3,n]) -> y
// [1,D,H,W,C], or [C,D,H,W,1] with the attribute apart: x at the positions of the map, linear between voxels;
// 0 in channels that are not kept. controls: displacements in mm along x, y, z, x varying fastest.
const Operation& spatial_map() {
  static const Operation operation = {"spatial_map", infer_spatial_map, nullptr, per_element<16>, whole};
  return operation;
}

// labels u8 [1,D,H,W,2], space f64 [space_numbers], (controls full [3,n]) -> the same shape. A label is a
// 16-bit number, little-endian. Of the labels around a position, the one with the largest sum of linear
// weights; the first in order of x, y, z wins ties.
const Operation& spatial_map_labels() {
  static const Operation operation = {"spatial_map_labels", infer_spatial_map_labels, nullptr,
                                      per_element<16>, whole};
  return operation;
}

}  // namespace voxswap::net::ops
