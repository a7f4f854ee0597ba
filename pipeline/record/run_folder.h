// What lies where in a run's folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

constexpr const char* description_file = "dataset.json";  // the data it was trained on

// `repeat` counts from 1.
std::filesystem::path checkpoint_folder(const RunOptions& options, std::int64_t repeat);
std::filesystem::path prediction_folder(const RunOptions& options, std::int64_t repeat);

}  // namespace voxswap::pipeline
