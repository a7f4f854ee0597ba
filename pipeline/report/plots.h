// The plots of a report. gnuplot draws them from our own statistics, so that pictures and tables agree. All
// throw NoGnuplot if it is not installed. Colours distinguish groups of runs (repeats of one model) or, if
// there is only one group, regions.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/gnuplot.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Box plots of Dice per region (rows with metric dice), a panel per grid. With fewer than five cases, only
// the cases are drawn.
Picture box_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups = {});

// Training by epoch: losses, Dice of the validation cases (mean over the regions), learning rate, seconds.
// Rings mark the epoch with the lowest validation loss, whose weights are kept.
Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups);

// Memory use over a step.
Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups);

// Epoch and step times by group of runs: seconds, overhead, utilisation and link rates over what was
// varied (number of voxels, link, budget, or names). Empty if fewer than two groups have timings.
Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups);

// Dice of the validation cases over training time.
Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
