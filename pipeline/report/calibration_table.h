// calibration.csv: calibration of the probabilities of validation cases (metrics/calibration.h), on the
// training grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/csv.h"
#include "metrics/calibration.h"

namespace voxswap::pipeline {

struct CalibrationRow {
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution, case_id, output;
  std::int64_t voxels = 0;
  double expected_error = 0, maximum_error = 0, brier = 0, log_loss = 0;
};

void set_scores(CalibrationRow& row, const metrics::Calibration& found);

const std::vector<CsvColumn>& calibration_columns();
Csv calibration_csv(const std::vector<CalibrationRow>& rows);
// The way back; throws Exit::bad_data naming `where` for what no run writes there.
std::vector<CalibrationRow> calibration_rows(const Csv& csv, const std::string& where);

}  // namespace voxswap::pipeline
