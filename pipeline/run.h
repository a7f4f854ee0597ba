// The commands' work, end to end. Each throws Error; nothing is written before the experiment and the data
// have been checked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/options.h"
#include "pipeline/predictor.h"

namespace voxswap {

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options);

// Label maps for the cases of `input` (a data set, or one case: a folder or a 4D file), on their own grids,
// with the weights of a finished run.
// With several repeats a folder for each, or, with how.ensemble, one mean. Probabilities go to
// OUT/probabilities/CASE_OUTPUT.nii.gz.
void predict(const RunOptions& options, const std::filesystem::path& input, const std::filesystem::path& out,
             const PredictOptions& how);

// The folders of a run.
std::filesystem::path checkpoint_folder(const RunOptions& options,
                                        std::int64_t repeat);  // repeat counts from 1
std::filesystem::path prediction_folder(const RunOptions& options, std::int64_t repeat);

}  // namespace voxswap
