// Verifies that a plan can be executed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Returns every violation, in words; empty for a valid plan. Independent of the planners. Follows every byte
// of the three memories through the list: each instruction must read the right content (the right bytes of
// the right value, persistent values in the right version), written by an instruction ordered before it, and
// may overwrite only bytes whose users are all ordered before it. Other violations: nodes missing or in a
// wrong order; waits on later or unknown instructions; residencies outside their memory, misaligned, too
// small or missing; persistent values not at the bottom or not resident throughout; kept values missing at
// the end; a budget exceeded; wrong sums.
std::vector<std::string> verify(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                                const Plan& plan);

}  // namespace voxswap::swap
