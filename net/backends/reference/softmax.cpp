// Soft-max over the channels of a voxel, and the sums of soft Dice and cross entropy of mutually exclusive
// classes (formulas: net/ops/softmax.cpp).
#include <algorithm>
#include <cmath>
#include <vector>

#include "net/backends/reference/kernels.h"
#include "net/graph/loss_terms.h"

namespace voxswap::net::reference {

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
      const double own = p[static_cast<std::size_t>(c)], complement = 1 - own,
                   minus_log = softmax.log_sum - x[c];
      const double ratio =
          complement > 1e-8 ? minus_log / complement : 1;  // -log p / (1 - p) if p is almost 1
      to[c] = own * (d[4 * c + 2] + (c == of ? d[4 * c] : 0)) -
              d[4 * c + 3] * soft_target(c == of, terms, channels) * std::pow(complement, terms.focus) *
                  (1 + terms.focus * own * ratio);
      all += to[c];
    }
    for (std::int64_t c = 0; c < channels; ++c) to[c] -= p[static_cast<std::size_t>(c)] * all;
  }
}

}  // namespace voxswap::net::reference
