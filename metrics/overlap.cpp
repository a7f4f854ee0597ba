// Counts and ratios of counts. For 0/0, the empty rule decides; there is no smoothing.
#include "metrics/overlap.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

#include "base/error.h"

namespace voxswap::metrics {

namespace {

double ratio(std::int64_t numerator, std::int64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

bool contains(std::span<const int> region, int label) {
  return std::find(region.begin(), region.end(), label) != region.end();
}

}  // namespace

EmptyRule parse_empty_rule(const std::string& name) {
  if (name == "brats") return EmptyRule::brats;
  if (name == "nnunet") return EmptyRule::nnunet;
  fail(Exit::usage, "'{}' is not a rule for empty regions. Expected brats or nnunet", name);
}

double empty_score(bool both_empty, EmptyRule rule) {
  if (!both_empty) return 0;
  return rule == EmptyRule::brats ? 1 : std::numeric_limits<double>::quiet_NaN();
}

// Runs of equal pairs along x are counted at once, since label maps consist of long runs.
std::vector<LabelPair> label_pairs(std::span<const std::int16_t> truth,
                                   std::span<const std::int16_t> prediction, const Size3& size) {
  assert(truth.size() == prediction.size());
  std::map<std::pair<std::int16_t, std::int16_t>, LabelPair> found;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < size[2]; ++z) {
    for (std::int64_t y = 0; y < size[1]; ++y) {
      for (std::int64_t x = 0; x < size[0];) {
        const std::int64_t first = x;
        const std::int16_t t = truth[i], p = prediction[i];
        do {
          ++x, ++i;
        } while (x < size[0] && truth[i] == t && prediction[i] == p);
        if (t == 0 && p == 0) continue;
        LabelPair& pair = found[{t, p}];
        pair.truth = t;
        pair.prediction = p;
        pair.voxels += x - first;
        include(pair.box, {{first, y, z}, {x - first, 1, 1}});
      }
    }
  }
  std::vector<LabelPair> pairs;
  for (const auto& [labels, pair] : found) pairs.push_back(pair);
  return pairs;
}

Overlap overlap(std::span<const LabelPair> pairs, std::span<const int> region) {
  Overlap counts;
  for (const LabelPair& pair : pairs) {
    const bool in_truth = contains(region, pair.truth), in_prediction = contains(region, pair.prediction);
    if (in_truth) counts.truth += pair.voxels;
    if (in_prediction) counts.prediction += pair.voxels;
    if (in_truth && in_prediction) counts.intersection += pair.voxels;
  }
  return counts;
}

VoxelBox box_around(std::span<const LabelPair> pairs, std::span<const int> region) {
  VoxelBox box;
  for (const LabelPair& pair : pairs) {
    if (contains(region, pair.truth) || contains(region, pair.prediction)) include(box, pair.box);
  }
  return box;
}

Overlap overlap(const Mask& truth, const Mask& prediction) {
  Overlap counts;
  for (std::size_t i = 0; i < truth.voxels.size(); ++i) {
    counts.truth += truth.voxels[i];
    counts.prediction += prediction.voxels[i];
    counts.intersection += truth.voxels[i] & prediction.voxels[i];
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

double precision(const Overlap& overlap, EmptyRule rule) {
  if (overlap.prediction == 0) return empty_score(overlap.truth == 0, rule);
  return ratio(overlap.intersection, overlap.prediction);
}

double specificity(const Overlap& overlap, std::int64_t voxels, EmptyRule rule) {
  const std::int64_t truth_outside = voxels - overlap.truth, prediction_outside = voxels - overlap.prediction;
  if (truth_outside == 0) return empty_score(prediction_outside == 0, rule);
  return ratio(voxels - overlap.truth - overlap.prediction + overlap.intersection, truth_outside);
}

}  // namespace voxswap::metrics
