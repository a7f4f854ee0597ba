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

Shape result_of(const Attributes& attributes, std::int64_t samples, std::int64_t channels) {
  return {samples, attributes.integer("d"), attributes.integer("h"), attributes.integer("w"), channels};
}

Specs infer_spatial_map(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 2 && x[1] == shape_of(graph, inputs[2])[0]);
  check_map(graph, inputs, 3);
  const bool apart = attributes.flag("apart");
  return {{result_of(attributes, apart ? x[1] : 1, apart ? 1 : x[1]), graph.value(inputs[0]).type}};
}

Specs infer_spatial_map_labels(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(shape_of(graph, inputs[0]).rank() == 2 && shape_of(graph, inputs[0])[1] == 2);
  check_map(graph, inputs, 2);
  return {{result_of(attributes, 1, 2), ElementType::u8}};
}

double flops(const Graph& graph, const Node& node) {
  return 16 * static_cast<double>(graph.value(node.outputs[0]).shape.count());
}

}  // namespace

// x full [n,C] (the voxels of a case, which has at most n), space f64 [space_numbers], channels f64
// [C,channel_numbers], (controls full [3,m]) -> y [1,d,h,w,C], or [C,d,h,w,1] with the attribute apart: x at
// the positions of the map, linear between voxels; 0 in channels that are not kept. controls: displacements
// in mm along x, y, z, x varying fastest. Attributes d, h, w, apart.
const Operation& spatial_map() {
  static const Operation operation = {"spatial_map", infer_spatial_map, nullptr, flops, whole};
  return operation;
}

// labels u8 [n,2], space f64 [space_numbers], (controls full [3,m]) -> [1,d,h,w,2]. A label is a 16-bit
// number, little-endian. Of the labels around a position, the one with the largest sum of linear weights; the
// first in order of x, y, z wins ties. Attributes d, h, w.
const Operation& spatial_map_labels() {
  static const Operation operation = {"spatial_map_labels", infer_spatial_map_labels, nullptr, flops, whole};
  return operation;
}

}  // namespace voxswap::net::ops
