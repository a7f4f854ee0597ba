// Label maps: decided from probabilities, and compared with the ground truth. They are exact, so all backends
// return the same numbers. A label is a 16-bit number, little-endian.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

Specs infer_decode_labels(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(inputs.size() == 2 && x.rank() == 5 && shape_of(graph, inputs[1]) == Shape({x[4], 2}));
  assert(graph.value(inputs[1]).type == ElementType::f64);
  assert(attributes.integer("nested") >= 0 && attributes.integer("nested") <= x[4]);
  return {{{x[0], x[1], x[2], x[3], 2}, ElementType::u8}};
}

std::int64_t check_confusion(const Graph& graph, const Ids& inputs) {
  [[maybe_unused]] const Shape& truth = shape_of(graph, inputs[0]);
  assert(inputs.size() == 3 && truth.rank() == 5 && truth[4] == 2 && truth == shape_of(graph, inputs[1]));
  assert(graph.value(inputs[2]).type == ElementType::f64 && shape_of(graph, inputs[2]).rank() == 1);
  return shape_of(graph, inputs[2])[0];
}

Specs infer_confusion_matrix(const Graph& graph, const Ids& inputs, const Attributes&) {
  const std::int64_t labels = check_confusion(graph, inputs);
  return {{{shape_of(graph, inputs[0])[0], labels, labels}, ElementType::f64}};
}

Specs infer_confusion_of_planes(const Graph& graph, const Ids& inputs, const Attributes&) {
  const std::int64_t labels = check_confusion(graph, inputs);
  const Shape& truth = shape_of(graph, inputs[0]);
  return {{{truth[0], truth[1], labels, labels}, ElementType::f64}};
}

}  // namespace

// probabilities full, channels f64 [C,2] (label, order) -> labels u8 [N,D,H,W,2]. Attributes nested and
// least. Of the first `nested` channels, the one that comes last in their order among those of at least
// `least` gives a voxel its label. The largest of the other channels replaces it, if it is at least `least`
// and above 0; the first wins ties. Otherwise 0.
const Operation& decode_labels() {
  static const Operation operation = {"decode_labels", infer_decode_labels, nullptr, per_element<2>,
                                      planewise};
  return operation;
}

// truth u8 [N,D,H,W,2], labels u8 [N,D,H,W,2], values f64 [K] -> [N,K,K] f64: the number of voxels with label
// values[i] in the ground truth and values[j] in the labels. Other labels are not counted. REQUIRES: values
// are distinct.
const Operation& confusion_matrix() {
  static const Operation operation = {"confusion_matrix", infer_confusion_matrix, nullptr, per_element<1>,
                                      summed("confusion_plane_sums", "add_planes")};
  return operation;
}

// like confusion_matrix -> [N,D,K,K] f64: its numbers for each plane.
const Operation& confusion_plane_sums() {
  static const Operation operation = {"confusion_plane_sums", infer_confusion_of_planes, nullptr,
                                      per_element<1>, whole};
  return operation;
}

}  // namespace voxswap::net::ops
