// The plot of a sweep's table.
#pragma once

#include "base/csv.h"
#include "pipeline/report/drawing.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::pipeline {

// y over x, a line per value of `by`; bars where x is no number. Rows without a number in y are left out,
// and where there is none the picture is empty. Throws Exit::usage for a column that the table has not,
// NoGnuplot.
Picture sweep_plot(const Csv& figures, const SweepPlot& plot);

}  // namespace voxswap::pipeline
