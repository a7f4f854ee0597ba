// Cross-validation results: scores of each fold, and of all folds together, which validate each case once.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/read_runs.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct FoldRow {  // folds.csv
  std::string resolution, setting, evaluated_at, region, metric;
  std::string fold;        // "0", "1", …; "all"
  std::int64_t cases = 0;  // with a value
  double mean = 0, sd = 0;
};

struct Folds {
  std::vector<FoldRow> rows;
  std::vector<std::string> notes;  // missing folds, cases that were validated twice
};

// Repeats are averaged per case, as in boxplot.csv. Empty if no group has runs of several folds.
Folds folds_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups);

Columns<FoldRow> columns_of(const FoldRow*);

}  // namespace voxswap::pipeline
