// Targets of the loss, made from the labels of a sample.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

constexpr std::int64_t label_count = std::int64_t{1} << 16;

Specs infer_encode_labels(const Graph& graph, const Ids& inputs, const Attributes&) {
  const Shape &labels = shape_of(graph, inputs[0]), &table = shape_of(graph, inputs[1]);
  assert(labels.rank() == 5 && labels[4] == 2);
  assert(table.rank() == 2 && table[0] == label_count && shape_of(graph, inputs[2]) == Shape({table[1]}));
  Shape target{labels[0], labels[1], labels[2], labels[3]};
  if (table[1] > 1) target = {labels[0], labels[1], labels[2], labels[3], table[1]};
  return {{target, ElementType::u8}};
}

}  // namespace

// labels u8 [N,D,H,W,2] (16-bit numbers, little-endian), table u8 [65536,B], always u8 [B] -> target u8
// [N,D,H,W,B], or [N,D,H,W] if B is 1. A voxel's target is the table's row for its label, combined with
// `always` by a bitwise or.
const Operation& encode_labels() {
  static const Operation operation = {"encode_labels", infer_encode_labels, nullptr, nullptr, whole};
  return operation;
}

}  // namespace voxswap::net::ops
