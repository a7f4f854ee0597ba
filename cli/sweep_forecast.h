// Forecast of a sweep, cell by cell, without running it.
#pragma once

#include <string>

#include "cli/cell_shares.h"

namespace voxswap::cli {

// A table with memory, disk and time of every cell, and what that comes to. `estimate`: costs from rates,
// nothing is measured. `json`: for scripts, a list of the cells.
std::string sweep_forecast(const experiments::Sweep& sweep, const SweepShares& shares, bool estimate,
                           bool json = false);

}  // namespace voxswap::cli
