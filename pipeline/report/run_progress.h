// The progress of a run, read from its files while it runs elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "pipeline/report/setting.h"

namespace voxswap::pipeline {

struct RunProgress {
  enum class State { running, stopped, trained, finished };

  std::string name, resolution;
  State state = State::stopped;
  std::int64_t epoch = 0, epochs = 0;  // finished, of at most so many; 0: not known
  std::int64_t repeat = 1, repeats = 1;
  std::vector<double> train_losses, validation_losses,
      dice;                                             // per epoch of the repeat; dice: mean of regions
  std::vector<std::pair<std::string, double>> regions;  // Dice after the last epoch
  std::int64_t best_epoch = 0;                          // by the validation loss; 0: none yet
  double learning_rate = 0, epoch_seconds = 0, megavoxels_per_second = 0;
  double wait_share = 0, stall_share = 0;     // of the last epoch
  std::optional<double> seconds_since_epoch;  // since its end; nothing before the first
  // Bytes: what the plan has for steps in device and host memory, and what the device may take; 0: not known.
  std::int64_t planned_bytes = 0, budget_bytes = 0;
  std::optional<std::int64_t> resident_bytes;  // what the process has now, where it is on this machine
};

// Throws Exit::bad_data for what is no run's folder, or whose tables are damaged.
RunProgress run_progress(const fs::path& folder, const ReadSettings& read_settings);

// At the pace of the epochs so far, until the last one ends; nothing where that is not known.
std::optional<double> seconds_left(const RunProgress& progress);

// As lines of at most `columns` columns.
std::vector<std::string> progress_lines(const RunProgress& progress, std::size_t columns);

Json progress_json(const RunProgress& progress);

// The last values that fit, from the lowest of them to the highest, a character each.
std::string sparkline(const std::vector<double>& values, std::size_t columns);

}  // namespace voxswap::pipeline
