// Determines for which instructions of other lanes each instruction of a plan must wait.
#pragma once

#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

// Sets `waits` of every instruction to the fewest that order it after the writers of all bytes that it reads
// and after all users of the bytes that it overwrites, in the arena, the host pool and the scratch file.
// Existing waits are kept. REQUIRES: offsets are set; `workspaces` (bytes per node) are those of the plan.
void add_waits(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, Plan& plan);

}  // namespace voxswap::swap
