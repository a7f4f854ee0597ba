// Sums over a volume in two operations: a sum per plane, in double, then the sum over planes, in order. So
// the result does not depend on how the volume is split into slabs. This file has both halves of channel_sum,
// the second halves of the other sums (the first halves are next to the sums: norm.cpp, loss.cpp,
// softmax.cpp), and the sum over blocks of planes (net/graph/window.h).
#include "net/graph/block_sums.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

const Shape& first_shape(const Graph& graph, const Ids& inputs) {
  return shape_of(graph, inputs[0]);
}

void check_planes(const Graph& graph, const Ids& inputs) {
  assert(!inputs.empty());
  const Shape& first = first_shape(graph, inputs);
  for (const ValueId id : inputs) {
    [[maybe_unused]] const Shape& shape = shape_of(graph, id);
    assert(shape.rank() == 4 && shape[0] == first[0] && shape[2] == first[2] && shape[3] == first[3]);
    assert(graph.value(id).type == ElementType::f64);
  }
}

Specs infer_add_planes(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_planes(graph, inputs);
  const Shape& first = first_shape(graph, inputs);
  const auto type = static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)));
  if (first[3] == 1) return {{{first[2]}, type}};
  return {{{first[0], first[2], first[3]}, type}};
}

Specs infer_mean(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_planes(graph, inputs);
  const Shape& first = first_shape(graph, inputs);
  assert(first[3] == 1 && attributes.real("voxels") > 0);
  const auto type = static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)));
  return {{{first[0], 1, 1, 1, first[2]}, type}};
}

Specs infer_statistics(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  check_planes(graph, inputs);
  const Shape& first = first_shape(graph, inputs);
  assert(first[3] == 2 && attributes.integer("plane_voxels") > 0);
  const auto type = static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)));
  return {{{first[0], first[2], 2}, type}};
}

Specs infer_total(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(!inputs.empty());
  const Shape& first = first_shape(graph, inputs);
  assert(first.rank() > 1);
  for (const ValueId id : inputs) {
    assert(shape_of(graph, id).count_from(1) == first.count_from(1));
    assert(graph.value(id).type == full_type(graph, inputs[0]));
  }
  std::vector<std::int64_t> sides(first.extents().begin(), first.extents().end()), rows;
  for (const ValueId id : inputs) rows.push_back(shape_of(graph, id)[0]);
  if (attributes.flag("apart"))
    sides[0] = static_cast<std::int64_t>(total_of(rows, attributes).outputs.size());
  else
    sides.erase(sides.begin());
  return {{Shape(sides), full_type(graph, inputs[0])}};
}

double flops_of_all(const Graph& graph, const Node& node) {
  double elements = 0;
  for (const ValueId id : node.inputs) elements += static_cast<double>(shape_of(graph, id).count());
  return elements;
}

}  // namespace

// x -> [N,D,C,1] f64: channel_sum of each plane.
const Operation& channel_plane_sums() {
  static const Operation operation = {"channel_plane_sums", infer_sums_of_planes<1>, nullptr, per_element<1>,
                                      whole};
  return operation;
}

// plane sums [N,d,C,1] f64, one or more slabs -> [N,1,1,1,C]: the result of average_pool. Attributes voxels
// (, type).
const Operation& mean_of_planes() {
  static const Operation operation = {"mean_of_planes", infer_mean, nullptr, flops_of_all, whole};
  return operation;
}

// plane sums [N,d,C,kinds] f64, one or more slabs -> [N,C,kinds], or [C] for one kind: added plane after
// plane. Attribute type (the enum's number, f32 when absent).
const Operation& add_planes() {
  static const Operation operation = {"add_planes", infer_add_planes, nullptr, flops_of_all, whole};
  return operation;
}

// plane moments [N,d,C,2] f64, one or more slabs -> [N,C,2]: the result of instance_norm_statistics.
// Attributes epsilon, plane_voxels (, type).
const Operation& statistics_of_planes() {
  static const Operation operation = {"statistics_of_planes", infer_statistics, nullptr, flops_of_all, whole};
  return operation;
}

// a[rows,…], b[rows,…], … full -> […]: sum of all rows, which are sums of blocks (net/graph/block_sums.h).
// With apart, [nodes,…].
const Operation& total() {
  static const Operation operation = {"total", infer_total, nullptr, flops_of_all, whole};
  return operation;
}

// Sum over samples and voxels: the gradient of a bias when no weight gradient is computed with it.

namespace {

Specs infer(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0]).rank() == 5);
  return {{{shape_of(graph, inputs[0])[4]}, full_type(graph, inputs[0])}};
}

}  // namespace

// x -> [C] full: sum over N,D,H,W.
const Operation& channel_sum() {
  static const Operation operation = {"channel_sum", infer, nullptr, per_element<1>,
                                      summed("channel_plane_sums", "add_planes")};
  return operation;
}

}  // namespace voxswap::net::ops
