// How the plots of a report are drawn: by gnuplot, from our own statistics, so that pictures and tables
// agree. Throws NoGnuplot where there is none. One colour is one group of runs (repeats of one model); where
// there is only one group, one region.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/gnuplot.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Dice per region as boxes.
// The rows with metric dice, a panel per grid. Of fewer than five cases there is no box, only the cases.
Picture box_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups = {});

// A training over its epochs.
// Losses, Dice of the validation cases (mean over the regions), learning rate, seconds; rings mark the epoch
// with the lowest validation loss, whose weights are kept.
Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups);

// Memory over a step.
Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups);

// Time of epochs and steps by group of runs.
// Seconds, overhead, utilisation and link rates over what was varied: the factor of voxels, the link, the
// budget, or names. Empty where fewer than two groups were timed.
Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups);

// Dice of the validation cases over the time of training.
Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
