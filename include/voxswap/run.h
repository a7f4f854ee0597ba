// Runs an experiment; the result is a folder with weights, scores and a report.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "voxswap/experiment.h"

namespace voxswap {

// Results of an epoch.
struct Epoch {
  std::int64_t repeat = 1, epoch = 1, epochs = 1;  // repeat and epoch count from 1
  double train_loss = 0, validation_loss = 0, learning_rate = 0, seconds = 0;
  std::vector<std::pair<std::string, double>> scores{};  // Dice of each region, or the accuracy
};

struct RunOptions {
  bool resume = false;                           // resume the run in the folder, or start it
  bool trace = false;                            // write timeline.json of one step
  std::int64_t until = 0;                        // pause after this epoch; 0: train to the end
  std::string record = {};                       // first line of run.log
  std::function<void(const Epoch&)> on_epoch{};  // called after every epoch on the first rank; may throw
};

// Trains, predicts the validation cases, scores them and writes the report. Locks the run's folder. Throws
// Exit::usage if the folder contains another run. Collective with several ranks; returns false on all but the
// first, which writes all files. A paused run is trained so far and not scored; `resume` continues it to the
// same bytes.
bool run(const Experiment& experiment, const RunOptions& options = {});
// Only trains; run() with `resume` continues from there.
bool train(const Experiment& experiment, const RunOptions& options = {});

}  // namespace voxswap
