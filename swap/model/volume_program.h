// A lower bound of the step time for steps that pass over their volumes many times. Unlike the relaxation
// (relaxation.h) this linear program knows that a recomputed value needs its inputs.
#pragma once

#include <vector>

#include "swap/model/budgets.h"
#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// No plan is shorter. `node_seconds`: on the compute lane, so 0 for exchanges.
// REQUIRES: every node's working set fits.
double volume_program_seconds(const net::Graph& graph, const Needs& needs,
                              const std::vector<double>& node_seconds, const CostModel& costs,
                              const Budgets& budgets);

}  // namespace voxswap::swap
