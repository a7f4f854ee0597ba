// Time and memory that a schedule leaves unused, and choices that use it.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/planners/decisions.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

// Of `schedule`, which is that of `choice`: what is dropped and made again stays instead where `budget` bytes
// have room for it all the time in between, first what saves most time for the bytes and the time that it is
// there; or at least from when it is first made again for others to its own reader. Flags are of single
// pieces, so that what has room for half of a volume keeps half of it. `volume`: of that one only.
Decisions keep_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
                               std::int64_t budget, const VolumeFacts* volume = nullptr);

// The same for less than a gap: what is made again several times in it, for others, is held from one of these
// uses to the next where there is room for it until then. Time that is saved is that of the runs for what it
// is made of, too.
Decisions hold_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
                               std::int64_t budget);

// Makes again what `schedule` waits for until it is copied: of what can be made again, the `share` of these
// values that takes longest beside what its node takes.
Decisions recompute_awaited_copies(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
                                   double share);

// Volumes on which the schedule spends time, the most first: on copies of them in, and on runs that make them
// again.
std::vector<std::int32_t> costliest_volumes(const GraphFacts& facts, const Schedule& schedule);

}  // namespace voxswap::swap
