// A lower bound of the step time that adds up the demands of all moments. The sweep of bound.cpp looks at one
// moment alone; between two passes over a volume that does not fit, as in a norm, slabs are swapped or
// recomputed repeatedly, and that adds up.
#pragma once

#include <vector>

#include "swap/model/budgets.h"
#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// `cut`: the node around which the order of what leaves and what comes back is told apart, best the one with
// the largest bound of its own; none: no such node.
// `node_seconds`: on the compute lane, so 0 for exchanges.
// REQUIRES: no bound at one node is infinite.
double relaxed_seconds(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
                       const CostModel& costs, const Budgets& budgets, net::NodeId cut);

}  // namespace voxswap::swap
