// A sweep's part of the report: its plot, its table, and the published figures to be held against them.
#pragma once

#include <string>

#include "pipeline/plots.h"
#include "pipeline/sweep_results.h"

namespace voxswap {

// y over x, a line per value of `by`; bars where x is no number. Rows without a number in y are left out,
// and where there is none the picture is empty. Throws Exit::usage for a column that the table has not, NoGnuplot.
Picture sweep_plot(const Csv& figures, const SweepPlot& plot);

std::string sweep_section(const SweepResults& results, const Csv& figures, const Picture& plot);  // HTML
std::string sweep_page(const SweepResults& results, const std::string& section);  // where there are no runs

}  // namespace voxswap
