// The candidates of `voxswap configure` for the network's grid, input size and batch, and the best of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/prepare/prepare.h"
#include "experiments/choices.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

// The training grids of the cases, in voxels, rounded to multiples that the network supports.
struct TrainingGrid {
  Spacing spacing{};                   // mm; of the median case if all cases are resized to one grid
  Size3 median{}, largest{}, usual{};  // usual: see CaseSizes
  bool is_coarser = false;             // than preprocess_choices() choose
};

// A candidate for the network's input size and batch, and the plan of its step.
struct Candidate {
  std::string context;  // "whole volumes", "1/2 of the median case"
  Spacing spacing{};    // mm
  Size3 size{};
  Size3 median{};  // of the median case; anything larger is mostly padding
  std::int64_t batch = 1;
  std::vector<Choice> choices;  // that depend on size and batch
  std::string why_not;          // reason if it does not fit, otherwise empty
  std::int64_t memory_bytes = 0, epoch_steps = 0;
  double step_seconds = 0, epoch_seconds = 0;  // an epoch includes its validation
  std::int64_t growth_epochs = 0;              // before the others, on a coarser grid (training.growth)
  double growth_seconds = 0;                   // of these

  double voxels() const;  // in the input
  double median_voxels() const;
  double seconds_per_voxel() const;  // without padding
};

// REQUIRES: `options` have no automatic spacing.
TrainingGrid training_grid(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options);
// `parts`: number of parts along which the median case is cut; 0: whole volumes.
Candidate candidate_of(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid, std::int64_t parts,
                       std::int64_t batch);

// Among planned candidates with other contexts than `taken`, the largest context that takes at most
// most_time_per_voxel times as long per voxel as the fastest; on ties, the smaller batch, unless the larger
// one pays off. If none is fast enough, the fastest. Null if none remains.
constexpr double most_time_per_voxel = 1.25;
const Candidate* best_beside(std::span<const Candidate> candidates,
                             const std::vector<const Candidate*>& taken);

}  // namespace voxswap::experiments
