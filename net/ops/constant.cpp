// One number, e.g. the 1 that the backward pass starts from.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph&, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  assert(inputs.empty());
  return {{{1}, static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)))}};
}

}  // namespace

const Operation& constant() {
  static const Operation operation = {"constant",
                                      "-> [1]: value",
                                      infer,
                                      nullptr,
                                      nullptr,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      {{"one", {}, {{"value", 1}}, {}}, {"-0.1", {}, {{"value", -0.1}}, {}}}};
  return operation;
}

}  // namespace voxswap::net::ops
