// Time of epochs and steps by group of runs.
#pragma once

#include <vector>

#include "pipeline/report/drawing.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Seconds, overhead, utilisation and link rates over what was varied: the factor of voxels, the link, the
// budget, or names. Empty where fewer than two groups were timed. Throws NoGnuplot where there is none
// (gnuplot.h).
Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
