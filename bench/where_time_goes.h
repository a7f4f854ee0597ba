// Shows where a planned step takes longer than computing every node once: recomputation, and kernels waiting
// for swaps.
#pragma once

#include "swap/model/bound.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap {

// Prints a table to stdout.
void print_where_time_goes(const net::Graph& graph, const swap::Plan& plan, const swap::CostModel& costs,
                           const swap::Bound& bound);

}  // namespace voxswap
