// The commands' work, end to end. Each throws Error; nothing is written before the experiment and the data
// have been checked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/options.h"
#include "swap/plan.h"

namespace voxswap {

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, timing.csv, plan.json,
// checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options);

// Label maps for the cases of `input` (a data set, or one case: a folder or a 4D file), on their own grids,
// with the weights of a finished run.
void predict(const RunOptions& options, const std::filesystem::path& input, const std::filesystem::path& out);

// What a run would take: for --dry-run and `voxswap plan`. Nothing is written.
struct Forecast {
  Plan plan;  // of the training step
  std::string plan_text, plan_json;
  std::string device;  // the backend's description
  std::string precision;
  std::int64_t parameters = 0;
  std::int64_t free_bytes = 0;   // device memory at hand
  std::int64_t arena_bytes = 0;  // training and validation share it
  std::int64_t cases_training = 0, cases_validation = 0;
  std::int64_t cache_bytes = 0;   // prepared volumes on disk
  std::int64_t output_bytes = 0;  // checkpoints and predictions, about
  double step_flops = 0;
  double measured_step_seconds = 0;  // one step on random data; 0 unless asked for
};
// `with_data`: open the data set (for channels, outputs, cases); otherwise channels and outputs are taken
// from the options.
Forecast forecast(const RunOptions& options, bool measure);

// The folders of a run.
std::filesystem::path checkpoint_folder(const RunOptions& options,
                                        std::int64_t repeat);  // repeat counts from 1
std::filesystem::path prediction_folder(const RunOptions& options, std::int64_t repeat);

}  // namespace voxswap
