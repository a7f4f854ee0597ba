// Reads the progress of a run from its files, while another process runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "pipeline/report/setting.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct RunProgress {
  enum class State { running, stopped, trained, finished };

  std::string name;
  bool is_earlier_stage = false;  // a coarser grid of a run that grows (growth_folder())
  State state = State::stopped;
  std::int64_t epoch = 0, epochs = 0;  // finished, and their maximum; 0: unknown
  std::int64_t repeat = 1, repeats = 1;
  std::vector<double> train_losses, validation_losses,
      dice;                                             // per epoch of the repeat; dice: mean over regions
  std::vector<std::pair<std::string, double>> regions;  // Dice after the last epoch
  std::int64_t best_epoch = 0;                          // epoch with the lowest validation loss; 0: none yet
  EpochRow last;                                        // epoch; all 0 before the first
  double epoch_seconds = 0;                             // mean
  std::optional<double> seconds_since_epoch;  // since the end of the last epoch; nullopt before the first
  // Bytes of device and host memory planned for steps, and the device's budget; 0: unknown.
  std::int64_t planned_bytes = 0, budget_bytes = 0;
  std::optional<std::int64_t> resident_bytes;  // of the process, if it runs on this machine
};

// Throws Exit::bad_data if the folder is not a run or its tables are damaged.
RunProgress run_progress(const fs::path& folder, const ReadSettings& read_settings);

// Estimated time to the end of the last epoch; nullopt if unknown.
std::optional<double> seconds_left(const RunProgress& progress);

// State, epoch and time left on one line.
std::string progress_head(const RunProgress& progress);

// Text lines of at most `columns` columns; the first is progress_head().
std::vector<std::string> progress_lines(const RunProgress& progress, std::size_t columns);

Json progress_json(const RunProgress& progress);

// The last `columns` values as one character each, scaled to their range.
std::string sparkline(const std::vector<double>& values, std::size_t columns);

}  // namespace voxswap::pipeline
