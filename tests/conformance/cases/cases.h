// Cases of the operations, on which every backend must agree with the reference. Each file of net/ops/ has
// one in this folder, whose name ends with "_cases".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/graph/operation.h"
#include "net/graph/operation_list.h"
#include "net/graph/value.h"

namespace voxswap::net {

// How an input is filled (fill_values, tests/net/run_graph.h).
enum class Fill {
  normal,
  positive,
  statistics /* (mean, 1/deviation) pairs */,
  bits /* u8 target bits */,
  classes /* u8 0 to 4 */,
  taps /* u8 0 to 8 */,
  zeros,
  one_infinite /* the others normal */
};

// One example of an operation: its inputs, attributes and updates.
struct OperationCase {
  struct Input {
    Shape shape;
    Fill fill = Fill::normal;
    enum class Kind {
      activation,
      full /* f32 always: parameters, statistics, sums */,
      twice /* f64 always: sums over planes */,
      bits
    } kind = Kind::activation;
    std::vector<double> values{};  // its contents, instead of the fill
  };
  std::string name;
  std::vector<Input> inputs;
  Attributes attributes;
  std::vector<Input> updates;
};

// REQUIRES: the operation is in the table of net/ops/ops.cpp.
const std::vector<OperationCase>& cases_of(std::string_view operation);

// One function per operation, and shorthands for its file.
namespace cases {

using Cases = std::vector<OperationCase>;

#define DECLARE(operation) Cases operation();
VOXSWAP_OPERATIONS(DECLARE)
#undef DECLARE

// Cases of the windowed version of `inner`, made from its own cases `whole`.
Cases windowed(const Operation& inner, const Cases& whole);

using Input = OperationCase::Input;
inline Input activation(Shape shape, Fill fill = Fill::normal) {
  return {std::move(shape), fill, Input::Kind::activation, {}};
}
inline Input full(Shape shape, Fill fill = Fill::normal) {
  return {std::move(shape), fill, Input::Kind::full, {}};
}
inline Input numbers(Shape shape, std::vector<double> values) {  // f64 always
  return {std::move(shape), Fill::zeros, Input::Kind::twice, std::move(values)};
}
inline Input bits(Shape shape) {
  return {std::move(shape), Fill::bits, Input::Kind::bits, {}};
}
inline Input classes(Shape shape) {
  return {std::move(shape), Fill::classes, Input::Kind::bits, {}};
}
inline Input tap_numbers(Shape shape) {
  return {std::move(shape), Fill::taps, Input::Kind::bits, {}};
}

// Of a target with this many bytes per voxel.
inline Shape target_shape(const Shape& logits, std::int64_t bytes) {
  if (bytes == 1) return {logits[0], logits[1], logits[2], logits[3]};
  return {logits[0], logits[1], logits[2], logits[3], bytes};
}

// D * H * W of N,D,H,W,C.
inline std::int64_t voxels(const Shape& shape) {
  return shape[1] * shape[2] * shape[3];
}

}  // namespace cases

}  // namespace voxswap::net
