// The tables that training writes after every epoch, and reads when it resumes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/file.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/tables.h"
#include "pipeline/train/validation.h"

namespace voxswap::pipeline {

struct TrainingTables {
  std::vector<EpochRow> epochs;           // epochs.csv
  std::vector<ValidationRow> validation;  // validation.csv
  std::vector<AccuracyRow> accuracy;      // accuracy.csv, of images that get one class

  void append(const TrainingTables& more);
  // The epoch of this row is over: the row, and what validation found. `averaged`: with the mean of the
  // weights, where there is one.
  void add(const EpochRow& row, const Validation& validation, const std::optional<Validation>& averaged);
};

// `classes`: of images that get one class, in a run's folder.
void write_tables(const fs::path& folder, bool classes, const TrainingTables& tables);
// The rows of one repeat, in the epochs before `epoch`, which were finished. Throws Exit::bad_data where one
// of those has none.
TrainingTables resumed_tables(const fs::path& folder, bool classes, std::int64_t repeat, std::int64_t epoch);

}  // namespace voxswap::pipeline
