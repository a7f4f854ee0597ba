// The commands' work, end to end. Each throws Error; nothing is written before the experiment and the data
// have been checked.
#pragma once

#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options, const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
