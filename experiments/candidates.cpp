#include "experiments/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "experiments/keys.h"
#include "experiments/presets.h"
#include "experiments/training_grid.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

constexpr double worth_a_batch =
    0.9;  // a larger batch must reduce the time per voxel to this fraction, since it makes fewer steps

bool all_are(const std::vector<net::Along>& levels, std::size_t from, std::int64_t value) {
  return std::all_of(levels.begin() + static_cast<std::ptrdiff_t>(from), levels.end(),
                     [&](const net::Along& one) {
                       return one == net::Along{value, value, value};
                     });
}

}  // namespace

TrainingGrid training_grid(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options) {
  TrainingGrid grid;
  grid.spacing = options.spacing;
  if (!options.by_spacing()) {
    grid.spacing = fingerprint.median_spacing();
    grid.median = grid.largest = grid.usual = options.resolution;
    return grid;
  }
  const CaseSizes sizes = case_sizes(fingerprint, options);
  grid.median = rounded_up(sizes.median, grid.spacing);
  grid.largest = rounded_up(sizes.largest, grid.spacing);
  grid.usual = rounded_up(sizes.usual, grid.spacing);
  return grid;
}

// `parts`: fraction 1/parts of the median case; 0: whole volumes.
Candidate candidate_of(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid, std::int64_t parts,
                       std::int64_t batch) {
  const bool whole = parts == 0;
  Candidate candidate;
  candidate.context = whole        ? "whole volumes"
                      : parts == 1 ? "median case"
                                   : format("1/{} of the median case", parts);
  if (grid.is_coarser) {
    const std::string spacing = value_types::spacing_text(grid.spacing);
    candidate.context += format(" at {} mm", spacing);
    candidate.choices.push_back({"preprocess.spacing", spacing, ""});
  }
  candidate.batch = batch;
  candidate.spacing = grid.spacing;
  candidate.size = whole ? grid.largest : grid.median;
  candidate.median = grid.median;
  candidate.choices.push_back(
      {"training.batch_size", std::to_string(batch),
       "a larger batch means fewer steps: chosen only if it takes 10 % less time per voxel"});
  if (fingerprint.dataset.images) return candidate;
  for (std::int64_t& side : candidate.size) {
    const double part =
        static_cast<double>(side) / std::cbrt(static_cast<double>(std::max<std::int64_t>(parts, 1)));
    side = std::min(side, std::max<std::int64_t>(8, std::llround(part)));
  }
  const Levels levels = levels_of(candidate.size, grid.spacing, most_levels, /*round_up=*/true);
  for (std::size_t axis = 0; axis < 3 && !whole; ++axis)
    candidate.size[axis] = std::min(levels.size[axis], grid.median[axis]);
  const auto depth = static_cast<std::int64_t>(levels.strides.size());
  std::vector<std::string> weights;
  for (const double weight : deep_supervision_weights(depth)) weights.push_back(number(weight));
  candidate.choices.push_back({"training.patch", whole ? "none" : list_text(candidate.size), ""});
  candidate.choices.push_back(
      {"network.depth", std::to_string(depth),
       format("sides are halved down to 4 voxels, at most {}", counted(most_levels, "level"))});
  if (!all_are(levels.strides, 1, 2))
    candidate.choices.push_back({"network.strides", value_types::print_levels(levels.strides),
                                 "axes with thick slices or few voxels are not halved"});
  if (!all_are(levels.kernels, 0, 3))
    candidate.choices.push_back({"network.kernels", value_types::print_levels(levels.kernels),
                                 "kernel size 1 along an axis while its voxels are much longer"});
  candidate.choices.push_back({"training.deep_supervision", "[" + join(weights, ", ") + "]",
                               "loss weight per level, halved at every level, as in nnU-Net"});
  return candidate;
}

double Candidate::voxels() const {
  return static_cast<double>(voxels_in(size));
}

double Candidate::median_voxels() const {
  return static_cast<double>(voxels_in(median));
}

double Candidate::seconds_per_voxel() const {
  double useful = static_cast<double>(batch);
  for (std::size_t axis = 0; axis < 3; ++axis)
    useful *= static_cast<double>(std::min(size[axis], median[axis]));
  return step_seconds / useful;
}

const Candidate* best_beside(std::span<const Candidate> candidates,
                             const std::vector<const Candidate*>& taken) {
  double fastest = std::numeric_limits<double>::infinity(), left = fastest;
  const auto is_taken = [&](const Candidate& one) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const Candidate* other) { return other->size == one.size; });
  };
  for (const Candidate& one : candidates) {
    if (!one.why_not.empty()) continue;
    fastest = std::min(fastest, one.seconds_per_voxel());
    if (!is_taken(one)) left = std::min(left, one.seconds_per_voxel());
  }
  const double most = std::max(most_time_per_voxel * fastest, left);
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    if (!one.why_not.empty() || is_taken(one) || one.seconds_per_voxel() > most) continue;
    const bool larger = best == nullptr || one.voxels() > best->voxels();
    const bool pays = best != nullptr && one.voxels() == best->voxels() &&
                      one.seconds_per_voxel() < worth_a_batch * best->seconds_per_voxel();
    if (larger || pays) best = &one;
  }
  return best;
}

}  // namespace voxswap::experiments
