// Names of files in a run's folder.
#pragma once

#include <cstdint>

#include "base/filesystem.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

constexpr const char* description_file = "dataset.json";  // the data it was trained on

// `repeat` counts from 1.
fs::path checkpoint_folder(const RunOptions& options, std::int64_t repeat);
fs::path prediction_folder(const RunOptions& options, std::int64_t repeat);

}  // namespace voxswap::pipeline
