// Dice of the validation cases over the time of training.
#pragma once

#include <vector>

#include "pipeline/report/drawing.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Throws NoGnuplot where there is none (gnuplot.h).
Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
