// Counting and the three ratios of counts. Where a ratio is 0/0 the named empty rule decides; nothing is
// smoothed.
#include "metrics/overlap.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/error.h"

namespace voxswap {

namespace {

// The score of a ratio whose denominator is 0.
double empty_score(bool both_empty, EmptyRule rule) {
  if (!both_empty) return 0;
  return rule == EmptyRule::brats ? 1 : std::numeric_limits<double>::quiet_NaN();
}

double ratio(std::int64_t numerator, std::int64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

}  // namespace

EmptyRule parse_empty_rule(const std::string& name) {
  if (name == "brats") return EmptyRule::brats;
  if (name == "nnunet") return EmptyRule::nnunet;
  fail(Exit::usage, "'{}' is no rule for empty regions: expected brats or nnunet", name);
}

Overlap overlap(std::span<const std::int16_t> truth, std::span<const std::int16_t> prediction,
                std::span<const int> region) {
  assert(truth.size() == prediction.size());
  const auto inside = [&](std::int16_t label) {
    return std::find(region.begin(), region.end(), int{label}) != region.end();
  };
  Overlap counts;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const bool in_truth = inside(truth[i]), in_prediction = inside(prediction[i]);
    counts.truth += in_truth;
    counts.prediction += in_prediction;
    counts.intersection += in_truth && in_prediction;
  }
  return counts;
}

double dice(const Overlap& overlap, EmptyRule rule) {
  if (overlap.truth + overlap.prediction == 0) return empty_score(true, rule);
  return ratio(2 * overlap.intersection, overlap.truth + overlap.prediction);
}

double sensitivity(const Overlap& overlap, EmptyRule rule) {
  if (overlap.truth == 0) return empty_score(overlap.prediction == 0, rule);
  return ratio(overlap.intersection, overlap.truth);
}

double specificity(const Overlap& overlap, std::int64_t voxels, EmptyRule rule) {
  const std::int64_t truth_outside = voxels - overlap.truth, prediction_outside = voxels - overlap.prediction;
  if (truth_outside == 0) return empty_score(prediction_outside == 0, rule);
  return ratio(voxels - overlap.truth - overlap.prediction + overlap.intersection, truth_outside);
}

}  // namespace voxswap
