// Logs the warnings of `voxswap check` and stores them in the run's folder beside the results.
#pragma once

#include "base/csv.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

const std::vector<CsvColumn>& warning_columns();

// Checks the cases of the split like `voxswap check`, logs the warnings and writes them to warnings.csv
// (case,problem,what_to_do) in the run's folder. The cache keeps the result for the next run on the same
// files.
void warn_of_data(const Experiment& experiment, const data::Dataset& dataset, const Split& split);

}  // namespace voxswap::pipeline
