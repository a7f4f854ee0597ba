// What a step cannot take less time than where it goes over its volumes again and again. Unlike the
// relaxation (relaxation.h) this linear program knows that what is made again needs what it is made of.
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
