// Where swapped values go: to the host pool or, when that is full, to disk.
#pragma once

#include "swap/planners/schedule.h"

namespace voxswap::swap {

// What is away longest goes to disk when the host pool is full, what streams to neither. Sets `on_disk` of
// every life from the schedule's stretches, and raises `excess` where the disk's budget is not enough either.
// Whether all that leaves fits into the host pool together, at any time.
bool choose_tiers(const GraphFacts& facts, Schedule& schedule);

}  // namespace voxswap::swap
