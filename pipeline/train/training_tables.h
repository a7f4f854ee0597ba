// Tables that training writes after every epoch, and reads on resume.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/file.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/tables.h"
#include "pipeline/train/device_use.h"
#include "pipeline/train/position.h"
#include "pipeline/train/validation.h"

namespace voxswap::pipeline {

struct TrainingTables {
  std::vector<EpochRow> epochs;           // epochs.csv
  std::vector<ValidationRow> validation;  // validation.csv
  std::vector<AccuracyRow> accuracy;      // accuracy.csv, for image classification
  double earlier_seconds = 0;             // of training before the first epoch: growth_seconds()

  // Replaces the rows of a repeat; repeats are in order.
  void replace(std::int64_t repeat, const TrainingTables& rows);
  // Adds the results of a finished epoch. `averaged`: validation with the averaged weights, if any.
  void add(const EpochRow& row, const Validation& validation, const std::optional<Validation>& averaged);
};

// Time that a repeat of the run has trained on coarser grids (growth_folder()).
double growth_seconds(const fs::path& run, std::int64_t repeat);

// The row of an epoch of `steps` steps, from the position at its end and its use of the device.
EpochRow epoch_row(const Experiment& experiment, std::int64_t repeat, const Position& position,
                   std::int64_t steps, const DeviceUse& use);

// `classes`: image classification.
void write_tables(const fs::path& folder, bool classes, const TrainingTables& tables);
// The rows of one repeat for the completed epochs before `epoch`. Throws Exit::bad_data if one is missing.
TrainingTables resumed_tables(const fs::path& folder, bool classes, std::int64_t repeat, std::int64_t epoch);
// All rows in the folder.
TrainingTables recorded_tables(const fs::path& folder, bool classes);

}  // namespace voxswap::pipeline
