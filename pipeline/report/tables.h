// The tables that a run writes, as structs and as CSV. Column names are part of the public interface.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "metrics/box_statistics.h"
#include "metrics/calibration.h"
#include "metrics/metrics.h"
#include "pipeline/report/columns.h"

namespace voxswap::pipeline {

// A repeat of a run at a resolution, to which a row belongs.
struct RepeatOfRun {
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution;  // "128" for a cube, "48x64x48" (x, y, z) for a box
};

// True for rows of the same run and repeat; of the same run, if they have no repeat.
template <class A, class B>
bool is_same_training(const A& a, const B& b) {
  if constexpr (requires { a.repeat; })
    if (a.repeat != b.repeat) return false;
  return a.run == b.run && a.resolution == b.resolution;
}

template <class A, class B>
bool is_same_epoch(const A& a, const B& b) {
  return is_same_training(a, b) && a.epoch == b.epoch;
}

// Rows of the tables.
struct EpochRow : RepeatOfRun {  // epochs.csv
  std::int64_t epoch = 1;
  double seconds = 0, train_loss = 0, validation_loss = 0, learning_rate = 0, megavoxels_per_second = 0;
  double wait_seconds = 0, stall_seconds = 0, validation_seconds = 0;
  double device_busy = 0;  // 0 to 1
  std::int64_t swapped_out_bytes = 0, swapped_in_bytes = 0, recomputed_nodes = 0, device_peak_bytes = 0,
               host_peak_bytes = 0;
  // With averaged weights (training.averaging); an additional last column if any row has a value.
  double averaged_validation_loss = std::numeric_limits<double>::quiet_NaN();
};

// The epoch with the lowest validation loss of every run and repeat (the first among equals), as chosen in
// training.
std::vector<EpochRow> best_epochs(const std::vector<EpochRow>& rows);

struct ValidationRow : RepeatOfRun {  // validation.csv: Dice after an epoch
  std::int64_t epoch = 1;
  double trained_seconds = 0;  // up to and including this epoch
  std::string region;
  double dice = 0;  // mean over the validation cases, on the training grid
  double averaged_dice = std::numeric_limits<double>::quiet_NaN();  // with averaged weights; an additional
                                                                    // column if any row has a value
};

// Means over the regions with a number (NaN if there are none), a row per epoch, in the order of epochs.
std::vector<ValidationRow> means_over_regions(const std::vector<ValidationRow>& rows);

struct DiceRow : RepeatOfRun {  // dice.csv
  std::string evaluated_at, case_id, region;
  static constexpr double not_asked_for = std::numeric_limits<double>::quiet_NaN();
  double dice = not_asked_for, hd95 = not_asked_for, sensitivity = not_asked_for, specificity = not_asked_for;
  std::int64_t truth_voxels = 0, predicted_voxels = 0;
  std::map<std::string, double> further;  // other selected metrics: additional columns
};

struct BoxRow {  // boxplot.csv
  std::string resolution, evaluated_at, region, metric;
  metrics::BoxStatistics statistics;
  std::string setting;  // of a group of runs; an additional column if any box has one
  // Values and names of the cases; not columns.
  std::vector<double> values;
  std::vector<std::string> cases;
};

struct TimingRow {  // timing.csv
  std::string run, resolution, device, planner;
  std::int64_t budget_bytes = 0;
  double link_to_host_gbps = 0, link_to_device_gbps = 0, epoch_seconds_mean = 0, step_seconds_median = 0;
  double predicted_step_seconds = 0, bound_step_seconds = 0, overhead = 0, utilization = 0, to_host_gbps = 0,
         to_device_gbps = 0;
  std::int64_t swapped_out_bytes = 0, swapped_in_bytes = 0, device_peak_bytes = 0;
};

struct MemoryRow {  // memory.csv: planned memory use over the time of a step
  std::string run, resolution, planner;
  double seconds = 0;  // start of the interval, which ends at the next row; simulated
  std::int64_t device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  // Of the device and, if memory.host sets one, of the host pool; 0: none (or a table of an earlier version).
  std::int64_t budget_bytes = 0, host_budget_bytes = 0;
};

struct PhaseRow {  // phases.csv: time spent by a run
  std::string run;
  std::string phase;  // planning | preparing | training | predicting
  double seconds = 0;
};

inline constexpr const char* warnings_file = "warnings.csv";  // warnings about the run's data
// Post-processing for prediction, selected on validation cases (predict/postprocessing.h), of a run or a
// sweep.
inline constexpr const char* postprocessing_file = "postprocessing.json";

double metric_value(const DiceRow& row, const std::string& metric);
void set_metric(DiceRow& row, const std::string& metric, double value);

std::string resolution_text(const std::array<std::int64_t, 3>& size);  // "128", "48x64x48"; images: "64x48"
double resolution_voxels(const std::string& resolution);  // number of voxels; infinity for other texts

// calibration.csv: calibration of probabilities on the training grid, per validation case
// (metrics/calibration.h).
struct CalibrationRow : RepeatOfRun {
  std::string case_id, output;
  std::int64_t voxels = 0;
  double expected_error = 0, maximum_error = 0, brier = 0, log_loss = 0;
};

void set_scores(CalibrationRow& row, const metrics::Calibration& found);

Columns<EpochRow> columns_of(const EpochRow*);
Columns<ValidationRow> columns_of(const ValidationRow*);
Columns<DiceRow> columns_of(const DiceRow*);
Columns<BoxRow> columns_of(const BoxRow*);
Columns<TimingRow> columns_of(const TimingRow*);
Columns<MemoryRow> columns_of(const MemoryRow*);
Columns<PhaseRow> columns_of(const PhaseRow*);
Columns<CalibrationRow> columns_of(const CalibrationRow*);

// Readable headings of columns and keys, with units: "epoch_seconds_mean" -> "Epoch, s",
// "preprocess.resolution" -> "Resolution, voxels", "dice_core" -> "Dice, core". Unknown names are derived:
// "a.b.stall_seconds" -> "Stall, s".
std::string heading_of(const std::string& column);
// A name for display: "whole_tumor" -> "whole tumor".
std::string with_spaces(std::string name);

}  // namespace voxswap::pipeline
