// Where a planned step takes longer than computing every node once: what is made again, and what kernels
// wait for.
#pragma once

#include "swap/model/bound.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap {

// A table for people on stdout.
void print_where_time_goes(const net::Graph& graph, const swap::Plan& plan, const swap::CostModel& costs,
                           const swap::Bound& bound);

}  // namespace voxswap
