// Choices of `voxswap configure` that only need a fingerprint: values of keys with reasons.
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

std::string list_text(const Size3& size);   // [40, 56, 40]; images: [64, 64]
std::string name_of(const fs::path& root);  // default name of an experiment on this data set
std::string network_name(const data::Dataset& dataset);

std::vector<Choice> data_choices(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request);
// `resize`: resize cases to one grid instead of one spacing.
std::vector<Choice> preprocess_choices(const pipeline::Fingerprint& fingerprint, bool resize);
std::vector<Choice> training_choices(const pipeline::Fingerprint& fingerprint,
                                     const ConfigureRequest& request, bool on_gpu);

}  // namespace voxswap::experiments
