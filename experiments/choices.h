// What voxswap configure chooses from a fingerprint alone: values of keys, each with its reason, and the
// candidates that are then planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
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
};

struct Choice {
  std::string key, value, why;
};

// What the network sees at a time, and the plan of a step on it.
struct Candidate {
  std::string context;  // "whole volume", "1/2 of a volume"
  data::Size3 size{};
  std::int64_t batch = 1;
  std::vector<Choice> choices;  // that follow from them
  std::string why_not;          // it does not fit; empty: it does
  std::int64_t memory_bytes = 0;
  double step_seconds = 0, epoch_seconds = 0;  // an epoch with its validation

  double voxels() const;  // of the context
  double seconds_per_voxel() const;
};

std::string list_text(const data::Size3& size);  // [40, 56, 40]; of an image [64, 64]
std::string name_of(const fs::path& root);       // of an experiment on this data set
std::string network_name(const data::Dataset& dataset);

std::vector<Choice> data_choices(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request);
std::vector<Choice> preprocess_choices(const pipeline::Fingerprint& fingerprint);
std::vector<Choice> training_choices(const pipeline::Fingerprint& fingerprint,
                                     const ConfigureRequest& request, bool on_gpu);
// `parts`: into which the training grid would be cut; 1: all of it.
Candidate candidate_of(const pipeline::Fingerprint& fingerprint, const data::Size3& grid, std::int64_t parts,
                       std::int64_t batch);

}  // namespace voxswap::experiments
