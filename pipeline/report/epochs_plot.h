// A training over its epochs.
#pragma once

#include <vector>

#include "pipeline/report/drawing.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Losses, Dice of the validation cases (mean over the regions), learning rate, seconds; rings mark the epoch
// with the lowest validation loss, whose weights are kept. Throws NoGnuplot where there is none (gnuplot.h).
Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
