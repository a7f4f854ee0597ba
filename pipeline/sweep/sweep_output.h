// Writes the results of a sweep: the table of its cells, its plot, and the report's section with published
// results for comparison.
#pragma once

#include <string>

#include "base/csv.h"
#include "base/file.h"
#include "pipeline/report/chart.h"
#include "pipeline/report/setting.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::pipeline {

// Writes OUT/sweep.csv (dice_table_of_cells() for runs, otherwise result_table()), sweep.svg and .png if
// there is something to plot, published.csv, and the report: that of the runs with the sweep's section, or a
// separate page. Without gnuplot, logs a warning instead of drawing plots.
void write_sweep_results(const SweepResults& results, const fs::path& out, const ReadSettings& read_settings);

// Writes OUT/halving.csv with the decisions of successive halving, if there are any.
void write_halving(const SweepResults& results, const fs::path& out);

// The plot of a sweep's table; empty if no row has a number in y. Throws Exit::usage for an unknown column,
// NoGnuplot.
Picture sweep_plot(const Csv& figures, const ChartColumns& plot);

}  // namespace voxswap::pipeline
