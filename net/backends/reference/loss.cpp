// The losses: sums over the volume per sample and channel, and soft Dice + binary cross entropy made of them
// (the formulas are in net/ops/loss.cpp).
#include <algorithm>
#include <cmath>

#include "net/backends/reference/planes.h"

namespace voxswap::net::reference {

namespace {

double probability(double logit) {
  return 1 / (1 + std::exp(-logit));
}

// Calls visit(element, n * C + c, target) for every logit; bit c of a voxel's target belongs to channel c.
template <class Visit>
void for_each_logit(const Array& logits, const Array& target, Visit visit) {
  const auto [samples, voxels, channels] = extents(logits.shape);
  for (std::int64_t i = 0; i < logits.shape.count(); ++i) {
    const std::int64_t voxel = i / channels, c = i % channels;
    visit(i, voxel / voxels * channels + c, (static_cast<int>(target.data[voxel]) >> c) & 1);
  }
}

}  // namespace

namespace {

void sum_losses(const Call& call, Sum what) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const std::int64_t channels = logits.shape[-1];
  const auto add = [&](std::int64_t i, std::int64_t, std::int64_t c, double* sums) {
    const double x = logits.data[i], p = probability(x);
    const int t = (static_cast<int>(target.data[i / channels]) >> c) & 1;
    sums[0] += t * p;
    sums[1] += t;
    sums[2] += p;
    sums[3] += std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));  // never log(0)
  };
  sum_over_planes(logits.shape, 4, what, call.outputs[0].data, add);
}

}  // namespace

void loss_sums(const Call& call) {
  sum_losses(call, Sum::all_planes);
}
void loss_plane_sums(const Call& call) {
  sum_losses(call, Sum::each_plane);
}

void loss_value(const Call& call) {
  const Array& sums = call.inputs[0];
  const double epsilon = call.attributes.real("epsilon"), voxels = call.attributes.real("voxels");
  const std::int64_t instances = sums.shape.count() / 4;
  double dice = 0, cross_entropy = 0;
  for (std::int64_t i = 0; i < instances; ++i) {
    const double* sum = sums.data + 4 * i;
    dice += (2 * sum[0] + epsilon) / (sum[1] + sum[2] + epsilon);
    cross_entropy += sum[3];
  }
  const double count = static_cast<double>(instances);
  call.outputs[0].data[0] = -call.attributes.real("dice") * dice / count +
                            call.attributes.real("cross_entropy") * cross_entropy / (count * voxels);
}

void loss_value_gradient(const Call& call) {
  const Array &sums = call.inputs[0], &dsums = call.outputs[0];
  const double dloss = call.inputs[1].data[0], epsilon = call.attributes.real("epsilon");
  const double count = static_cast<double>(sums.shape.count() / 4);
  const double dice = call.attributes.real("dice") / count;
  const double cross_entropy =
      call.attributes.real("cross_entropy") / (count * call.attributes.real("voxels"));
  for (std::int64_t i = 0; i < sums.shape.count() / 4; ++i) {
    const double* sum = sums.data + 4 * i;
    double* gradient = dsums.data + 4 * i;
    const double denominator = sum[1] + sum[2] + epsilon;
    gradient[0] = -dloss * dice * 2 / denominator;
    gradient[1] = 0;
    gradient[2] = dloss * dice * (2 * sum[0] + epsilon) / (denominator * denominator);
    gradient[3] = dloss * cross_entropy;
  }
}

void loss_sums_gradient(const Call& call) {
  const Array &logits = call.inputs[0], &dsums = call.inputs[2], &dlogits = call.outputs[0];
  for_each_logit(logits, call.inputs[1], [&](std::int64_t i, std::int64_t instance, int t) {
    const double p = probability(logits.data[i]);
    const double* d = dsums.data + 4 * instance;
    dlogits.data[i] = (d[0] * t + d[2]) * p * (1 - p) + d[3] * (p - t);
  });
}

}  // namespace voxswap::net::reference
