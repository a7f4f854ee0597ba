// Losses of labels: sums per sample and channel, and the losses computed from sums (formulas:
// net/ops/loss.cpp).
#include <algorithm>
#include <cmath>

#include "net/backends/reference/kernels.h"
#include "net/graph/loss_terms.h"

namespace voxswap::net::reference {

namespace {

double probability(double logit) {
  return 1 / (1 + std::exp(-logit));
}
// log(1 + exp(x)) without overflow, which is -log of the probability of not x.
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

// The target of a voxel's logit.
struct Wanted {
  int t = 0;
  double soft = 0;  // after smoothing
  bool known = true;
};
Wanted wanted(const Array& target, std::int64_t voxel, std::int64_t c, std::int64_t channels,
              const LossTerms& terms) {
  const double* bytes = target.data + voxel * terms.target_bytes(channels);
  const auto bit = [&](std::int64_t at) { return (static_cast<int>(bytes[at / 8]) >> at % 8) & 1; };
  const int t = bit(c);
  const bool known = terms.unknown == Unknown::nothing || bit(terms.unknown_bit(c, channels)) == 0;
  return {t, (1 - terms.smoothing) * t + terms.smoothing / 2, known};
}

void sum_losses(const Call& call, Sum what) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const std::int64_t channels = logits.shape[-1];
  const LossTerms terms(call.attributes);
  const auto add = [&](std::int64_t i, std::int64_t, std::int64_t c, double* sums) {
    const double x = logits.data[i], p = probability(x);
    const Wanted w = wanted(target, i / channels, c, channels, terms);
    if (!w.known) return;
    sums[0] += w.t * p;
    sums[1] += w.t;
    sums[2] += p;
    sums[3] += w.soft * std::pow(1 - p, terms.focus) * softplus(-x) +
               (1 - w.soft) * std::pow(p, terms.focus) * softplus(x);
    sums[4] += 1;
  };
  sum_over_planes(logits.shape, terms.kinds(), what, call.outputs[0].data, add);
}

}  // namespace

void loss_sums(const Call& call) {
  sum_losses(call, Sum::all_planes);
}
void loss_plane_sums(const Call& call) {
  sum_losses(call, Sum::each_plane);
}

namespace {

// The factors with which loss_value weights the sums of one sample.
class Factors {
 public:
  explicit Factors(const Call& call)
      : sums_(call.inputs[0]), channels_(sums_.shape[1]), weights_(call.attributes, channels_) {
    for (std::int64_t c = 0; c < channels_; ++c) {
      all_ += weight(c);
      if (c >= weights_.first) of_dice_ += weight(c);
    }
  }
  std::int64_t channels() const { return channels_; }
  double epsilon() const { return weights_.epsilon; }
  std::int64_t kinds() const { return sums_.shape[-1]; }
  const double* sum(std::int64_t n, std::int64_t c) const {
    return sums_.data + kinds() * (n * channels_ + c);
  }

  double of_dice(std::int64_t c) const {
    return c < weights_.first ? 0 : weights_.dice * weight(c) / (samples() * of_dice_);
  }
  double of_entropy(std::int64_t n, std::int64_t c) const {
    const double counted = count(n);
    return counted == 0 ? 0 : weights_.cross_entropy * weight(c) / (samples() * counted);
  }

 private:
  double samples() const { return static_cast<double>(sums_.shape[0]); }
  double weight(std::int64_t c) const { return weights_.of(c); }
  double count(std::int64_t n) const {
    if (weights_.counted_by == 0) return weights_.count * all_ / static_cast<double>(channels_);
    double counted = 0;
    for (std::int64_t c = 0; c < channels_; ++c) counted += weight(c) * sum(n, c)[weights_.counted_by];
    return counted;
  }

  const Array& sums_;
  std::int64_t channels_;
  LossWeights weights_;
  double all_ = 0, of_dice_ = 0;
};

}  // namespace

void loss_value(const Call& call) {
  const Factors factors(call);
  double loss = 0;
  for (std::int64_t n = 0; n < call.inputs[0].shape[0]; ++n)
    for (std::int64_t c = 0; c < factors.channels(); ++c) {
      const double *sum = factors.sum(n, c), epsilon = factors.epsilon();
      loss += factors.of_entropy(n, c) * sum[3] -
              factors.of_dice(c) * (2 * sum[0] + epsilon) / (sum[1] + sum[2] + epsilon);
    }
  call.outputs[0].data[0] = loss;
}

void loss_value_gradient(const Call& call) {
  const Factors factors(call);
  const double dloss = call.inputs[1].data[0];
  double* gradient = call.outputs[0].data;
  std::fill_n(gradient, call.outputs[0].shape.count(), 0.0);
  for (std::int64_t n = 0; n < call.inputs[0].shape[0]; ++n)
    for (std::int64_t c = 0; c < factors.channels(); ++c, gradient += factors.kinds()) {
      const double *sum = factors.sum(n, c), dice = dloss * factors.of_dice(c);
      const double numerator = 2 * sum[0] + factors.epsilon();
      const double denominator = sum[1] + sum[2] + factors.epsilon();
      gradient[0] = -dice * 2 / denominator;
      gradient[2] = dice * numerator / (denominator * denominator);
      gradient[3] = dloss * factors.of_entropy(n, c);
    }
}

void loss_sums_gradient(const Call& call) {
  const Array &logits = call.inputs[0], &target = call.inputs[1], &dsums = call.inputs[2];
  const auto [samples, voxels, channels] = extents(logits.shape);
  const LossTerms terms(call.attributes);
  for (std::int64_t i = 0; i < logits.shape.count(); ++i) {
    const std::int64_t voxel = i / channels, c = i % channels;
    const double x = logits.data[i], p = probability(x);
    const Wanted w = wanted(target, voxel, c, channels, terms);
    const double* d = dsums.data + terms.kinds() * (voxel / voxels * channels + c);
    const double entropy =
        (1 - w.soft) * std::pow(p, terms.focus) * (p + terms.focus * (1 - p) * softplus(x)) -
        w.soft * std::pow(1 - p, terms.focus) * (1 - p + terms.focus * p * softplus(-x));
    call.outputs[0].data[i] = w.known ? (d[0] * w.t + d[2]) * p * (1 - p) + d[3] * entropy : 0;
  }
}

}  // namespace voxswap::net::reference
