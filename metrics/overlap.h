// Overlap of a region in truth and prediction: counts, and Dice = 2|T and P| / (|T| + |P|).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace voxswap {

struct Overlap {
  std::int64_t truth = 0;         // voxels
  std::int64_t prediction = 0;    // voxels
  std::int64_t intersection = 0;  // voxels
};

// What an empty region scores. brats: both empty 1, one empty 0. nnunet: both empty NaN, one empty 0.
// Sensitivity asks it only where T is empty, specificity where T fills the volume (then of what lies
// outside), since they are defined else.
enum class EmptyRule { brats, nnunet };
EmptyRule parse_empty_rule(const std::string& name);  // throws Exit::usage

// Counts over two label maps of equal length, for the region made of the label values `region`.
Overlap overlap(std::span<const std::int16_t> truth, std::span<const std::int16_t> prediction,
                std::span<const int> region);
double dice(const Overlap& overlap, EmptyRule rule);
double sensitivity(const Overlap& overlap, EmptyRule rule);  // |T and P| / |T|
double specificity(const Overlap& overlap, std::int64_t voxels,
                   EmptyRule rule);  // |not T and not P| / |not T|

}  // namespace voxswap
