// Training: from an experiment to a folder with weights, scores and a report.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "voxswap/experiment.h"

namespace voxswap {

// What an epoch came to.
struct Epoch {
  std::int64_t repeat = 1, epoch = 1, epochs = 1;  // repeat and epoch count from 1
  double train_loss = 0, validation_loss = 0, learning_rate = 0, seconds = 0;
  std::vector<std::pair<std::string, double>> scores{};  // Dice of each region, or the accuracy
};

struct TrainingOptions {
  bool resume = false;                           // resume the run in the folder, or start it
  bool trace = false;                            // write timeline.json of one step
  std::string record = {};                       // first line of run.log
  std::function<void(const Epoch&)> on_epoch{};  // called after every epoch on the first rank; may throw
};

// Trains, predicts the validation cases, evaluates and reports. Holds the run's folder until the end. Throws
// Exit::usage when the folder holds another run. Of several ranks, all call it; false: this is not the first
// rank, which writes all files.
bool run(const Experiment& experiment, const TrainingOptions& options = {});
// Trains only; run() with `resume` continues from there.
bool train(const Experiment& experiment, const TrainingOptions& options = {});

}  // namespace voxswap
