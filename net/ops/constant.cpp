// A constant, e.g. the 1 with which the backward pass starts.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph&, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  assert(inputs.empty());
  return {{{1}, static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)))}};
}

}  // namespace

// (nothing) -> [1] full. Attribute value (, type: the enum's number, f32 when absent).
const Operation& constant() {
  static const Operation operation = {
      "constant",      infer, nullptr,
      nullptr,         {},
      /*cheap=*/false, whole, {{"one", {}, {{"value", 1}}, {}}, {"-0.1", {}, {{"value", -0.1}}, {}}}};
  return operation;
}

}  // namespace voxswap::net::ops
