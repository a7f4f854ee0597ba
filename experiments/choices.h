// What voxswap configure chooses from a fingerprint alone: values of keys, each with its reason, and the
// candidates that are then planned.
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
  fs::path file = "experiment.yaml";     // to be written
  std::vector<std::string> overrides;    // "key=value": not to be chosen
  std::optional<std::int64_t> memory{};  // bytes; none: what is free
  double hours = 1;
  std::string as{};  // as in pipeline::ForecastOptions
  bool estimate = false;
  std::int64_t folds = 5;
  std::int64_t candidates = 1;  // more: a sweep over the best ones
};

struct Choice {
  std::string key, value, why;
};

// The grids that cases are prepared on, in voxels that the network can halve.
struct TrainingGrid {
  data::Spacing spacing{};                   // mm; of the median case where all are resized to one grid
  data::Size3 median{}, largest{}, usual{};  // usual: see CaseSizes
};

// What the network sees at a time, and the plan of a step on it.
struct Candidate {
  std::string context;  // "whole volumes", "1/2 of the median case"
  data::Size3 size{};
  data::Size3 median{};  // more than that is padding, mostly
  std::int64_t batch = 1;
  std::vector<Choice> choices;  // that follow from them
  std::string why_not;          // it does not fit; empty: it does
  std::int64_t memory_bytes = 0, epoch_steps = 0;
  double step_seconds = 0, epoch_seconds = 0;  // an epoch with its validation

  double voxels() const;  // of the context
  double median_voxels() const;
  double seconds_per_voxel() const;  // that is not padding
};

std::string list_text(const data::Size3& size);  // [40, 56, 40]; of an image [64, 64]
std::string name_of(const fs::path& root);       // of an experiment on this data set
std::string network_name(const data::Dataset& dataset);

std::vector<Choice> data_choices(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request);
// `resize`: to one grid, in place of one spacing.
std::vector<Choice> preprocess_choices(const pipeline::Fingerprint& fingerprint, bool resize);
// REQUIRES: the spacing of `options`, where they have one, is not auto.
TrainingGrid training_grid(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options);
std::vector<Choice> training_choices(const pipeline::Fingerprint& fingerprint,
                                     const ConfigureRequest& request, bool on_gpu);
// `parts`: into which the median case would be cut; 0: whole volumes.
Candidate candidate_of(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid, std::int64_t parts,
                       std::int64_t batch);

}  // namespace voxswap::experiments
