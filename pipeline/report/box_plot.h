// Dice per region as boxes.
#pragma once

#include <vector>

#include "pipeline/report/drawing.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The rows with metric dice, a panel per grid. Of fewer than five cases there is no box, only the cases.
// Throws NoGnuplot where there is none (gnuplot.h).
Picture box_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups = {});

}  // namespace voxswap::pipeline
