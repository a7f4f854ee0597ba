// Training: from an experiment to a folder with weights, scores and a report.
#pragma once

#include <string>

#include "voxswap/experiment.h"

namespace voxswap {

struct TrainingOptions {
  bool resume = false;      // resume the run in the folder, or start it
  bool trace = false;       // write timeline.json of one step
  std::string record = {};  // first line of run.log
};

// Trains, predicts the validation cases, evaluates and reports. Holds the run's folder until the end. Throws
// Exit::usage when the folder holds another run. Of several ranks, all call it; false: this is not the first
// rank, which writes all files.
bool run(const Experiment& experiment, const TrainingOptions& options = {});
// Trains only; run() with `resume` continues from there.
bool train(const Experiment& experiment, const TrainingOptions& options = {});

}  // namespace voxswap
