// The part of verify() that checks residencies alone.
#pragma once

#include "swap/plan/plan.h"
#include "swap/verify/violations.h"

namespace voxswap::swap {

// Of something that exists, within the list and inside the arena, aligned, large enough. False when not: the
// checks below and whoever follows the plan index by what is checked here.
bool check_place_ranges(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                        const Plan& plan, Violations& violations);

// One per value and instruction, none over another that is live at the same time (but an output
// over an input that ends there, where the operation allows it), persistent values at the bottom and
// throughout, sums that are those of the places. REQUIRES: ranges as above.
void check_places(const net::Graph& graph, const Plan& plan, Violations& violations);

}  // namespace voxswap::swap
