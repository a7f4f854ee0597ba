// Overlap of a region in ground truth and prediction: counts, and ratios of counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "metrics/mask.h"

namespace voxswap::metrics {

struct Overlap {
  std::int64_t truth = 0;         // voxels
  std::int64_t prediction = 0;    // voxels
  std::int64_t intersection = 0;  // voxels
};

// Scores of empty regions. brats: both empty 1, one empty 0. nnunet: both empty NaN, one empty 0. Only
// applied where a ratio is undefined: for sensitivity if T is empty, for precision if P is empty, for
// specificity if T fills the volume (then to the region outside).
enum class EmptyRule { brats, nnunet };
EmptyRule parse_empty_rule(const std::string& name);  // throws Exit::usage
double empty_score(bool both_empty, EmptyRule rule);

// The number of voxels with a pair of labels in ground truth and prediction, and their bounding box. Counts
// of all regions follow from the few pairs of a case.
struct LabelPair {
  std::int16_t truth = 0, prediction = 0;
  std::int64_t voxels = 0;
  VoxelBox box;
};
// One pass over two label maps on a grid of `size`; omits the pair of background and background.
std::vector<LabelPair> label_pairs(std::span<const std::int16_t> truth,
                                   std::span<const std::int16_t> prediction, const Size3& size);

// Counts of the region with label values `region`, and its bounding box in both maps.
Overlap overlap(std::span<const LabelPair> pairs, std::span<const int> region);
VoxelBox box_around(std::span<const LabelPair> pairs, std::span<const int> region);
Overlap overlap(const Mask& truth, const Mask& prediction);  // cut from the same box

double dice(const Overlap& overlap, EmptyRule rule);         // 2 |T and P| / (|T| + |P|)
double sensitivity(const Overlap& overlap, EmptyRule rule);  // |T and P| / |T|
double precision(const Overlap& overlap, EmptyRule rule);    // |T and P| / |P|
double specificity(const Overlap& overlap, std::int64_t voxels,
                   EmptyRule rule);  // |not T and not P| / |not T|, in a grid of `voxels`

}  // namespace voxswap::metrics
