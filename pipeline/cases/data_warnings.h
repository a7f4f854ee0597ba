// Logs warnings of a run's data and stores them in its folder beside the results.
#pragma once

#include "base/csv.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

const std::vector<CsvColumn>& warning_columns();

// Checks the cases of the split like `voxswap check`, and whether split and augmentation suit them. Logs the
// warnings and writes them to warnings.csv (case,problem,what_to_do) in the run's folder. The cache keeps the
// result of the check for the next run on the same files. `pretrained`: validation cases on which the initial
// weights were trained.
void warn_of_data(const Experiment& experiment, const data::Dataset& dataset, const Split& split,
                  const std::vector<std::string>& pretrained);

}  // namespace voxswap::pipeline
