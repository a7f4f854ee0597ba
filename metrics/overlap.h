// Overlap of a region in truth and prediction: counts, and the ratios of counts.
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

// What an empty region scores. brats: both empty 1, one empty 0. nnunet: both empty NaN, one empty 0.
// Sensitivity asks it only where T is empty, precision where P is, specificity where T fills the volume (then
// of what lies outside), since they are defined else.
enum class EmptyRule { brats, nnunet };
EmptyRule parse_empty_rule(const std::string& name);  // throws Exit::usage
double empty_score(bool both_empty, EmptyRule rule);

// How often a label of the truth meets a label of the prediction, and the box around the voxels where it
// does. All regions' counts follow from the few pairs of a case.
struct LabelPair {
  std::int16_t truth = 0, prediction = 0;
  std::int64_t voxels = 0;
  VoxelBox box;
};
// One pass over two label maps of the grid `size`; without the pair of background and background.
std::vector<LabelPair> label_pairs(std::span<const std::int16_t> truth,
                                   std::span<const std::int16_t> prediction, const Extent& size);

// Of the region made of the label values `region`: its counts, and the box around it in both maps.
Overlap overlap(std::span<const LabelPair> pairs, std::span<const int> region);
VoxelBox box_around(std::span<const LabelPair> pairs, std::span<const int> region);
Overlap overlap(const Mask& truth, const Mask& prediction);  // cut from the same box

double dice(const Overlap& overlap, EmptyRule rule);         // 2 |T and P| / (|T| + |P|)
double sensitivity(const Overlap& overlap, EmptyRule rule);  // |T and P| / |T|
double precision(const Overlap& overlap, EmptyRule rule);    // |T and P| / |P|
double specificity(const Overlap& overlap, std::int64_t voxels,
                   EmptyRule rule);  // |not T and not P| / |not T|, in a grid of `voxels`

}  // namespace voxswap::metrics
