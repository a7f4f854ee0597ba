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

// Of the logit's voxel, the bit that belongs to its channel.
int target_of(const Array& target, std::int64_t element, std::int64_t channels) {
  const std::int64_t voxel = element / channels, c = element % channels;
  return (static_cast<int>(target.data[voxel * ((channels + 7) / 8) + c / 8]) >> c % 8) & 1;
}

// Calls visit(element, n * C + c, target) for every logit.
template <class Visit>
void for_each_logit(const Array& logits, const Array& target, Visit visit) {
  const auto [samples, voxels, channels] = extents(logits.shape);
  for (std::int64_t i = 0; i < logits.shape.count(); ++i)
    visit(i, i / channels / voxels * channels + i % channels, target_of(target, i, channels));
}

}  // namespace

namespace {

void sum_losses(const Call& call, Sum what) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const std::int64_t channels = logits.shape[-1];
  const auto add = [&](std::int64_t i, std::int64_t, std::int64_t, double* sums) {
    const double x = logits.data[i], p = probability(x);
    const int t = target_of(target, i, channels);
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

namespace {

// What loss_value weighs its sums with.
struct LossWeights {
  double dice, cross_entropy, epsilon;  // of one channel's Dice, of one number's cross entropy
  std::int64_t channels, first;

  explicit LossWeights(const Call& call) {
    const Attributes& a = call.attributes;
    channels = call.inputs[0].shape[1];
    first = a.integer("first");
    const auto samples = static_cast<double>(call.inputs[0].shape[0]);
    dice = a.real("dice") / (samples * static_cast<double>(std::max<std::int64_t>(1, channels - first)));
    cross_entropy = a.real("cross_entropy") / (samples * a.real("count"));
    epsilon = a.real("epsilon");
  }
  double dice_of(std::int64_t instance) const { return instance % channels >= first ? dice : 0; }
};

}  // namespace

void loss_value(const Call& call) {
  const Array& sums = call.inputs[0];
  const LossWeights weights(call);
  double loss = 0;
  for (std::int64_t i = 0; i < sums.shape.count() / 4; ++i) {
    const double* sum = sums.data + 4 * i;
    loss += weights.cross_entropy * sum[3] -
            weights.dice_of(i) * (2 * sum[0] + weights.epsilon) / (sum[1] + sum[2] + weights.epsilon);
  }
  call.outputs[0].data[0] = loss;
}

void loss_value_gradient(const Call& call) {
  const Array &sums = call.inputs[0], &dsums = call.outputs[0];
  const LossWeights weights(call);
  const double dloss = call.inputs[1].data[0];
  for (std::int64_t i = 0; i < sums.shape.count() / 4; ++i) {
    const double* sum = sums.data + 4 * i;
    double* gradient = dsums.data + 4 * i;
    const double denominator = sum[1] + sum[2] + weights.epsilon, dice = dloss * weights.dice_of(i);
    gradient[0] = -dice * 2 / denominator;
    gradient[1] = 0;
    gradient[2] = dice * (2 * sum[0] + weights.epsilon) / (denominator * denominator);
    gradient[3] = dloss * weights.cross_entropy;
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
