// Which instructions of a plan must wait for which of other lanes.
#pragma once

#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

// Sets `waits` of every instruction to the fewest that order it after whoever wrote what it reads and after
// whoever used what it overwrites, byte by byte in the arena, the host pool and the scratch file; waits that
// are there already stay. REQUIRES: places are set, workspaces (bytes per node) those of the plan.
void add_waits(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, Plan& plan);

}  // namespace voxswap::swap
