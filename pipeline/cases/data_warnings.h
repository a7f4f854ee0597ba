// The warnings of `voxswap check`, in the log and in the folder of the run that trains on the data, so that
// they accompany the results.
#pragma once

#include "base/csv.h"
#include "pipeline/cases/options.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

const std::vector<CsvColumn>& warning_columns();

// Looks at the cases of the split as check does, tells the warnings on the log, and writes them to
// warnings.csv (case,problem,what_to_do) in the run's folder. What was found is kept in the cache for the
// next run on these files.
void warn_of_data(const RunOptions& options, const data::Dataset& dataset, const Split& split);

}  // namespace voxswap::pipeline
