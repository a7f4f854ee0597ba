// Losses and soft-max (formulas: net/ops/loss.cpp).
#include <algorithm>
#include <cmath>
#include <vector>

#include "net/backends/reference/kernels.h"
#include "net/graph/loss_terms.h"

namespace voxswap::net::reference {

// Sums for labels, per sample and channel, and the losses computed from sums.

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

// Soft-max over the channels of a voxel, and the sums of soft Dice and cross entropy of mutually exclusive
// classes (formulas: net/ops/loss.cpp).

namespace {

// The soft-max of a voxel's logits, and the logarithm of its denominator.
struct Softmax {
  std::vector<double> p;
  double log_sum = 0;

  explicit Softmax(std::int64_t channels) : p(static_cast<std::size_t>(channels)) {}

  void look_at(const double* x) {
    const double largest = *std::max_element(x, x + p.size());
    double sum = 0;
    for (std::size_t c = 0; c < p.size(); ++c) sum += p[c] = std::exp(x[c] - largest);
    for (double& value : p) value /= sum;
    log_sum = largest + std::log(sum);
  }
};

// The voxel's class, from one byte or two (little-endian).
std::int64_t class_of(const Array& target, std::int64_t voxel) {
  if (target.shape.rank() == 4) return static_cast<std::int64_t>(target.data[voxel]);
  return static_cast<std::int64_t>(target.data[2 * voxel] + 256 * target.data[2 * voxel + 1]);
}
// The desired probability of a class in the cross entropy, after smoothing.
double soft_target(bool is_target, const LossTerms& terms, std::int64_t channels) {
  return (is_target ? 1 - terms.smoothing : 0) + terms.smoothing / static_cast<double>(channels);
}

// Calls take(plane, its sums [C][4]) for one plane after the other.
template <class Take>
void sum_planes(const Call& call, Take take) {
  const Array &logits = call.inputs[0], &target = call.inputs[1];
  const LossTerms terms(call.attributes);
  const std::int64_t voxels = logits.shape[2] * logits.shape[3], channels = logits.shape[4];
  Softmax softmax(channels);
  std::vector<double> sums(static_cast<std::size_t>(4 * channels));
  for (std::int64_t plane = 0; plane < logits.shape[0] * logits.shape[1]; ++plane) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t voxel = plane * voxels; voxel < (plane + 1) * voxels; ++voxel) {
      const std::int64_t of = class_of(target, voxel);
      if (of >= channels) continue;
      const double* x = logits.data + voxel * channels;
      softmax.look_at(x);
      double* own = sums.data() + 4 * of;
      own[0] += softmax.p[static_cast<std::size_t>(of)];
      own[1] += 1;
      for (std::int64_t c = 0; c < channels; ++c) {
        const double p = softmax.p[static_cast<std::size_t>(c)];
        double* to = sums.data() + 4 * c;
        to[2] += p;
        to[3] += soft_target(c == of, terms, channels) * std::pow(1 - p, terms.focus) *
                 (softmax.log_sum - x[c]);  // never log(0)
      }
    }
    take(plane, sums);
  }
}

}  // namespace

void softmax(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  const std::int64_t channels = x.shape[-1];
  Softmax softmax(channels);
  for (std::int64_t first = 0; first < x.shape.count(); first += channels) {
    softmax.look_at(x.data + first);
    std::copy(softmax.p.begin(), softmax.p.end(), y.data + first);
  }
}

void softmax_loss_sums(const Call& call) {
  const Array &logits = call.inputs[0], &sums = call.outputs[0];
  std::fill_n(sums.data, sums.shape.count(), 0.0);
  sum_planes(call, [&](std::int64_t plane, const std::vector<double>& found) {
    double* to = sums.data + plane / logits.shape[1] * static_cast<std::int64_t>(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) to[i] += found[i];
  });
}

void softmax_loss_plane_sums(const Call& call) {
  sum_planes(call, [&](std::int64_t plane, const std::vector<double>& found) {
    std::copy(found.begin(), found.end(),
              call.outputs[0].data + plane * static_cast<std::int64_t>(found.size()));
  });
}

void softmax_loss_sums_gradient(const Call& call) {
  const Array &logits = call.inputs[0], &target = call.inputs[1], &dsums = call.inputs[2];
  const LossTerms terms(call.attributes);
  const std::int64_t channels = logits.shape[4];
  const std::int64_t per_sample = logits.shape.count() / logits.shape[0] / channels;
  Softmax softmax(channels);
  const std::vector<double>& p = softmax.p;
  for (std::int64_t voxel = 0; voxel < logits.shape.count() / channels; ++voxel) {
    const double* x = logits.data + voxel * channels;
    double* to = call.outputs[0].data + voxel * channels;
    const std::int64_t of = class_of(target, voxel);
    if (of >= channels) {
      std::fill_n(to, channels, 0.0);
      continue;
    }
    softmax.look_at(x);
    const double* d = dsums.data + 4 * (voxel / per_sample) * channels;
    // The gradient with respect to the logarithm of every probability, then to the logits.
    double all = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double own = p[static_cast<std::size_t>(c)], rest = 1 - own, minus_log = softmax.log_sum - x[c];
      const double ratio = rest > 1e-8 ? minus_log / rest : 1;  // -log p / (1 - p) if p is almost 1
      to[c] = own * (d[4 * c + 2] + (c == of ? d[4 * c] : 0)) -
              d[4 * c + 3] * soft_target(c == of, terms, channels) * std::pow(rest, terms.focus) *
                  (1 + terms.focus * own * ratio);
      all += to[c];
    }
    for (std::int64_t c = 0; c < channels; ++c) to[c] -= p[static_cast<std::size_t>(c)] * all;
  }
}

}  // namespace voxswap::net::reference
