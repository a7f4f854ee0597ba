// Choices of `voxswap configure` that only need a fingerprint: values of keys with reasons, and the
// candidates to plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/prepare/prepare.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

struct ConfigureRequest {
  fs::path root;                         // of the data set
  fs::path file = "experiment.yaml";     // to write
  std::vector<std::string> overrides;    // "key=value": set by the user, not chosen
  std::optional<std::int64_t> memory{};  // bytes; nullopt: free memory
  double hours = 1;
  std::string as{};  // see pipeline::ForecastOptions
  bool estimate = false;
  std::int64_t folds = 5;
  std::int64_t candidates = 1;  // more than 1: write a sweep over the best ones
};

struct Choice {
  std::string key, value, why;
};

// The training grids of the cases, in voxels, rounded to multiples that the network supports.
struct TrainingGrid {
  Spacing spacing{};                   // mm; of the median case if all cases are resized to one grid
  Size3 median{}, largest{}, usual{};  // usual: see CaseSizes
};

// A candidate for the network's input size and batch, and the plan of its step.
struct Candidate {
  std::string context;  // "whole volumes", "1/2 of the median case"
  Size3 size{};
  Size3 median{};  // of the median case; anything larger is mostly padding
  std::int64_t batch = 1;
  std::vector<Choice> choices;  // that depend on size and batch
  std::string why_not;          // reason if it does not fit, otherwise empty
  std::int64_t memory_bytes = 0, epoch_steps = 0;
  double step_seconds = 0, epoch_seconds = 0;  // an epoch includes its validation

  double voxels() const;  // in the input
  double median_voxels() const;
  double seconds_per_voxel() const;  // without padding
};

std::string list_text(const Size3& size);   // [40, 56, 40]; images: [64, 64]
std::string name_of(const fs::path& root);  // default name of an experiment on this data set
std::string network_name(const data::Dataset& dataset);

std::vector<Choice> data_choices(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request);
// `resize`: resize cases to one grid instead of one spacing.
std::vector<Choice> preprocess_choices(const pipeline::Fingerprint& fingerprint, bool resize);
// REQUIRES: `options` have no automatic spacing.
TrainingGrid training_grid(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options);
std::vector<Choice> training_choices(const pipeline::Fingerprint& fingerprint,
                                     const ConfigureRequest& request, bool on_gpu);
// `parts`: number of parts along which the median case is cut; 0: whole volumes.
Candidate candidate_of(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid, std::int64_t parts,
                       std::int64_t batch);

}  // namespace voxswap::experiments
