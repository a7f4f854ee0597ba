// The results of the cells of a sweep, and their tables.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "pipeline/report/chart.h"
#include "pipeline/sweep/halving.h"

namespace voxswap::pipeline {

// A cell that ended or was stopped.
struct CellResult {
  std::string name;
  std::vector<std::string> values;  // one per swept column
  fs::path folder;
  double megavoxels = 0;       // of the volumes processed by one step
  double steps_per_epoch = 0;  // of plan and bench; 0: unknown
  bool fits = true;            // false: no plan fits its budgets
  std::string why_not;
  bool stopped = false;  // by halving: it has no scores
};

struct SweepResults {
  std::string title, command;  // run | plan | bench
  std::vector<std::string> columns;
  std::vector<CellResult> cells;
  ChartColumns plot;  // empty y: no plot
  Csv published;
  std::vector<std::string> failures;  // missing cells with reasons, a sentence each
  std::vector<HalvingRow> halving;
};

// One row per cell: cell, the swept columns, fits, megavoxels, then the values of its bench.json,
// forecast.json or largest.json; for runs, mean Dice over cases and repeats (all regions, then each) and the
// columns of timing.csv.
Csv result_table(const SweepResults& results);

const std::vector<CsvColumn>& cell_columns();  // of dice_table_of_cells(), without the swept keys
// For runs: one row per cell, grid and region with n, mean, sd and median of Dice over per-case means of the
// repeats. Independent of timing, so that it is reproducible.
Csv dice_table_of_cells(const SweepResults& results);

// The cell with the highest mean Dice on its first grid; empty if there are no scores. REQUIRES: command run.
std::string best_cell(const SweepResults& results);

}  // namespace voxswap::pipeline
