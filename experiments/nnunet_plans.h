// nnU-Net 2's plans.json and dataset.json as settings of an experiment.
#pragma once

#include <string>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "experiments/settings.h"

namespace voxswap::experiments {

struct NnunetPlans {
  Settings settings;       // of the network, preprocessing and patch; for keys that differ from the default
  data::Dataset dataset;   // description; no cases
  std::size_t axes = 3;    // 2: a 2D network, whose patches are single slices
  std::string previous{};  // the configuration of the first network of a cascade
};

// Reads plans.json and dataset.json of a results folder, old and new plans, for one of its configurations.
// Throws Exit::bad_data naming file and entry for damaged files, and for what voxswap has no counterpart of:
// other architectures, preprocessors, readers and resampling.
NnunetPlans read_nnunet_plans(const fs::path& folder, const std::string& configuration);

}  // namespace voxswap::experiments
