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

// Of every plane the sum over its voxels, over count.
void losses_of_planes(const Call& call, double* to) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const std::int64_t channels = logits.shape[-1], plane = logits.shape[2] * logits.shape[3];
  std::fill_n(to, logits.shape[0] * logits.shape[1], 0.0);
  for_each_voxel(logits, [&](std::int64_t voxel, const double* x, double largest, double sum) {
    const auto of = static_cast<std::int64_t>(target.data[voxel]);
    if (of < channels) to[voxel / plane] += largest + std::log(sum) - x[of];
  });
  for (std::int64_t i = 0; i < logits.shape[0] * logits.shape[1]; ++i) to[i] /= call.attributes.real("count");
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
  const Shape& shape = call.inputs[0].shape;
  std::vector<double> planes(static_cast<std::size_t>(shape[0] * shape[1]));
  losses_of_planes(call, planes.data());
  double all = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    double sample = 0;
    for (std::int64_t z = 0; z < shape[1]; ++z) sample += planes[static_cast<std::size_t>(n * shape[1] + z)];
    all += sample;
  }
  call.outputs[0].data[0] = all;
}

void cross_entropy_plane_sums(const Call& call) {
  losses_of_planes(call, call.outputs[0].data);
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
