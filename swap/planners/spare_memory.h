// Moves of the search that use memory or time that a schedule leaves unused.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/planners/decisions.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

// Stops recomputing values that fit into memory throughout their gap, within `budget` bytes: first those that
// save most compute time per byte and second. If only a part of the gap has room, a value stays from its
// first recomputation, for another value, to its own reader. Decides slab by slab. `schedule` is that of
// `decisions`. `volume`: considers only its slabs.
Decisions keep_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                               std::int64_t budget, const VolumeFacts* volume = nullptr);

// The same for parts of a gap: a value that is recomputed several times within a gap is retained between two
// of these uses if there is memory. The time saved includes the recomputation of its sources.
Decisions retain_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                                 std::int64_t budget);

// Recomputes values whose swap-in stalls the schedule: the `share` of the recomputable ones with the longest
// stall relative to the time of their node.
Decisions recompute_stalling_copies(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                                    double share);

// Volumes sorted by the time that the schedule spends on swapping them in and recomputing them, the most
// first.
std::vector<std::int32_t> costliest_volumes(const GraphFacts& facts, const Schedule& schedule);

}  // namespace voxswap::swap
