// The results of a sweep: the table of its cells, its plot, and the section of the report, with published
// results beside it.
#pragma once

#include "base/filesystem.h"
#include "pipeline/report/setting.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::pipeline {

// Writes OUT/sweep.csv (dice_table_of_cells() of runs, result_table() otherwise), sweep.svg and .png where
// there is something to plot, published.csv, and the report: that of the runs with the sweep's section added,
// or a page of its own. Without gnuplot there is a warning instead of plots.
void write_sweep_results(const SweepResults& results, const fs::path& out, const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
