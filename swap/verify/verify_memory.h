// The part of verify() that follows every byte of the three memories.
//
// The list is walked once, with a shadow of each memory (shadow.h) that knows what every byte holds, who
// wrote it and who read it since. The list itself is one order that is possible; that all others give the
// same follows if any two accesses to the same byte, one of them a write, are ordered by streams and waits
// (stream_order.h), which the shadows check at every access.
#pragma once

#include "swap/plan/plan.h"
#include "swap/verify/violations.h"

namespace voxswap::swap {

// Every read finds what it is to read, persistent values in the version that the graph's order gives, and
// everything is ordered after what it needs. Values that are kept and persistent ones are there at the end.
// REQUIRES: instructions and residencies in range.
void check_memory(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                  Violations& violations);

}  // namespace voxswap::swap
