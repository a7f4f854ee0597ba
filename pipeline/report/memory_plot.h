// Memory over a step.
#pragma once

#include <vector>

#include "pipeline/report/drawing.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Throws NoGnuplot where there is none (gnuplot.h).
Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
