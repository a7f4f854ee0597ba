// The commands' work, end to end. Each throws Error; nothing is written before the experiment and the data
// have been checked.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/options.h"

namespace voxswap {

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options);

constexpr const char* description_file = "dataset.json";  // in a run's folder: the data it was trained on

// The folders of a run.
std::filesystem::path checkpoint_folder(const RunOptions& options,
                                        std::int64_t repeat);  // repeat counts from 1
std::filesystem::path prediction_folder(const RunOptions& options, std::int64_t repeat);

}  // namespace voxswap
