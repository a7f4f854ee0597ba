// The work of run and train, end to end. Everything is checked before anything is written. All functions
// throw Error.
#pragma once

#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options, const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
