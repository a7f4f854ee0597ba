// Cases of targets made from labels (net/ops/targets.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase of_bytes(std::string name, const Shape& labels, std::int64_t bytes, bool few) {
  return {std::move(name),
          {few ? classes(labels) : bits(labels), bits({std::int64_t{1} << 16, bytes}), bits({bytes})},
          {},
          {}};
}

}  // namespace

Cases encode_labels() {
  return {of_bytes("few labels, one byte", {1, 3, 5, 7, 2}, 1, true),
          of_bytes("all labels, two bytes", {1, 4, 5, 9, 2}, 2, false),
          of_bytes("two samples, three bytes", {2, 2, 3, 5, 2}, 3, false)};
}

}  // namespace voxswap::net::cases
