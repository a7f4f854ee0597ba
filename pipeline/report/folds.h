// A cross-validation as a whole: the scores of each fold, and of all folds together, in which every case was
// held out once.
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
  std::int64_t cases = 0;  // that have a number
  double mean = 0, sd = 0;
};

struct Folds {
  std::vector<FoldRow> rows;
  std::vector<std::string> notes;  // folds that are missing, cases that were held out twice
};

// Of repeats a case counts once, with the mean of its scores, as in boxplot.csv. Nothing where no group has
// runs of more than one fold.
Folds folds_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups);

template <>
const Columns<FoldRow>& columns<FoldRow>();

}  // namespace voxswap::pipeline
