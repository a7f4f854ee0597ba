// Spatial dropout of whole channels (Tompson et al. 2015). This operation draws only the factors.
// norm_activation multiplies by them, so dropout needs no pass over memory.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer(const Graph&, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  assert(inputs.empty());
  assert(attributes.real("rate") >= 0 && attributes.real("rate") < 1);
  const auto type = static_cast<ElementType>(attributes.integer_or("type", int(ElementType::f32)));
  return {{{attributes.integer("n"), attributes.integer("c")}, type}};
}

}  // namespace

// (nothing) -> [N,C] full: 0 with probability rate, else 1/(1-rate), drawn as Philox(seed, step,
// key).uniform(n * C + c) < rate. Attributes n, c, rate, key (, type).
const Operation& spatial_dropout_scale() {
  static const Operation operation = {
      "spatial_dropout_scale",
      infer,
      nullptr,
      nullptr,
      {},
      /*cheap=*/false,
      whole,
      {{"study's rate", {}, {{"n", 1}, {"c", 64}, {"rate", 0.3}, {"key", 0}}, {}},
       {"odd channels, batch of two, another key", {}, {{"n", 2}, {"c", 5}, {"rate", 0.5}, {"key", 7}}, {}},
       {"rate 0", {}, {{"n", 2}, {"c", 3}, {"rate", 0}, {"key", 1}}, {}}},
      /*depends_on_step=*/true};
  return operation;
}

}  // namespace voxswap::net::ops
