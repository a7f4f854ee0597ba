// Soft-max over the channels of a voxel, and its cross entropy (the formulas are in net/ops/softmax.cpp).
#include <algorithm>
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(voxel, its logits, the largest of them, the sum of exp(x - largest)).
template <class Visit>
void for_each_voxel(const Array& logits, Visit visit) {
  const std::int64_t channels = logits.shape[-1];
  for (std::int64_t voxel = 0; voxel < logits.shape.count() / channels; ++voxel) {
    const double* x = logits.data + voxel * channels;
    const double largest = *std::max_element(x, x + channels);
    double sum = 0;
    for (std::int64_t c = 0; c < channels; ++c) sum += std::exp(x[c] - largest);
    visit(voxel, x, largest, sum);
  }
}

}  // namespace

void softmax(const Call& call) {
  const std::int64_t channels = call.inputs[0].shape[-1];
  for_each_voxel(call.inputs[0], [&](std::int64_t voxel, const double* x, double largest, double sum) {
    for (std::int64_t c = 0; c < channels; ++c)
      call.outputs[0].data[voxel * channels + c] = std::exp(x[c] - largest) / sum;
  });
}

void softmax_cross_entropy(const Call& call) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const std::int64_t channels = logits.shape[-1];
  double total = 0;
  for_each_voxel(logits, [&](std::int64_t voxel, const double* x, double largest, double sum) {
    const auto of = static_cast<std::int64_t>(target.data[voxel]);
    if (of < channels) total += largest + std::log(sum) - x[of];
  });
  call.outputs[0].data[0] = total / call.attributes.real("count");
}

void softmax_cross_entropy_gradient(const Call& call) {
  const Array &logits = call.inputs[0], &target = call.inputs[1], &dlogits = call.outputs[0];
  const std::int64_t channels = logits.shape[-1];
  const double factor = call.inputs[2].data[0] / call.attributes.real("count");
  for_each_voxel(logits, [&](std::int64_t voxel, const double* x, double largest, double sum) {
    const auto of = static_cast<std::int64_t>(target.data[voxel]);
    for (std::int64_t c = 0; c < channels; ++c) {
      const double difference = std::exp(x[c] - largest) / sum - (c == of ? 1 : 0);
      dlogits.data[voxel * channels + c] = of < channels ? factor * difference : 0;
    }
  });
}

}  // namespace voxswap::net::reference
