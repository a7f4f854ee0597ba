// Verifies that a plan can be executed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Every violation, in words. Follows every byte of the three memories through the list: each instruction must
// find there what it is to read (the right bytes of the right value, persistent ones in the right version),
// written by an instruction that is ordered before it, and may write only where everybody who used what lay
// there is ordered before it. Also: nodes missing or in a wrong order, waits on later or unknown
// instructions, places outside their memory, misaligned, too small or missing, persistent values elsewhere
// than at the bottom or not resident throughout, kept values gone at the end, a budget exceeded, sums that
// are not those of the places. Empty for a good plan. Knows nothing of how the plan was made.
std::vector<std::string> verify(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                                const Plan& plan);

}  // namespace voxswap::swap
