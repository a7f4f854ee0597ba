// The plots of a report. gnuplot draws them from our own statistics, so that pictures and tables agree. All
// throw NoGnuplot if it is not installed. Colours distinguish groups of runs (repeats of one model,
// group_colors.h) or, if there is only one group, regions. `width`: of
// the layout in pixels, where letters are 13 pixels high; some plots need more. 0: the natural one.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/comparison.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/ranking.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Dice per region against resolution, or of every setting: means with intervals and paired lines per case, on
// the first grid. Empty if there is only one group.
Picture dice_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups, int width = 0);

// Mean Dice against epoch time and device memory, with the Pareto front. Empty with fewer than two groups.
Picture pareto_plot(const Ranking& ranking, const std::vector<TimingRow>& timing,
                    const std::vector<RunGroup>& groups, int width = 0);

// Box plots of Dice per region (rows with metric dice), a panel per grid. With fewer than five cases, only
// the cases are drawn.
Picture box_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups = {}, int width = 0);

// Training by epoch: losses, Dice of the validation cases (mean over the regions), learning rate, seconds.
// Rings mark the epoch with the lowest validation loss, whose weights are kept.
Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups, int width = 0);

// Memory use over a step.
Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups, int width = 0);

// Epoch and step times by group of runs: seconds, overhead, utilisation and link rates over what was
// varied (number of voxels, link, budget, or names). Empty if fewer than two groups have timings.
Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups, int width = 0);

// Dice of the validation cases over training time.
Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups,
                        int width = 0);

}  // namespace voxswap::pipeline
