// Targets of the loss (net/ops/targets.cpp).
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

void encode_labels(const Call& call) {
  const Array &labels = call.inputs[0], &table = call.inputs[1], &always = call.inputs[2];
  const std::int64_t bytes = table.shape[1];
  for (std::int64_t v = 0; v < labels.shape.count() / 2; ++v) {
    const auto label = static_cast<std::int64_t>(labels.data[2 * v] + 256 * labels.data[2 * v + 1]);
    for (std::int64_t b = 0; b < bytes; ++b)
      call.outputs[0].data[v * bytes + b] =
          static_cast<int>(table.data[label * bytes + b]) | static_cast<int>(always.data[b]);
  }
}

}  // namespace voxswap::net::reference
