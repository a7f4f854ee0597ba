// The results of the cells of a sweep, and their tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "pipeline/report/chart.h"

namespace voxswap::pipeline {

// A cell that came to an end.
struct CellResult {
  std::string name;
  std::vector<std::string> values;  // one per swept column
  fs::path folder;
  double megavoxels = 0;       // of the volumes that one step sees
  double steps_per_epoch = 0;  // of plan and bench; 0: not known
  bool fits = true;            // false: within its budgets there is no plan
  std::string why_not;
};

struct SweepResults {
  std::string title, command;  // run | plan | bench
  std::vector<std::string> columns;
  std::vector<CellResult> cells;
  ChartColumns plot;  // without y there is none
  Csv published;
  std::vector<std::string> failures;  // what is missing, and why: a sentence each
};

// A row per cell: cell, the swept columns, fits, megavoxels, then the figures of its bench.json,
// forecast.json or largest.json; of a run mean Dice over cases and repeats (all regions, then each), and its
// timing.csv.
Csv result_table(const SweepResults& results);

const std::vector<CsvColumn>& cell_columns();  // of the next, without the swept keys
// Of runs: a row per cell, grid and region with n, mean, sd and median of Dice over the per-case means of the
// repeats. Nothing in it depends on how long anything took.
Csv dice_table_of_cells(const SweepResults& results);

// The name of the cell with the highest mean Dice on the first grid that it was evaluated at; empty without
// any. REQUIRES: command run.
std::string best_cell(const SweepResults& results);

}  // namespace voxswap::pipeline
