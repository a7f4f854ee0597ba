// Which values are swapped out, and in which of their idle times.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/planners/schedule.h"

namespace voxswap::swap {

struct EvictionLimits {
  std::int64_t memory = 0;       // of the device, in every step
  std::int64_t least_bytes = 0;  // smaller values stay
};

// Appends to the schedule's stretches those in which lives leave, so that its memory, which counts all that
// is live, comes to no more than the limit; where no choice does, it stays above. At the first step that is
// over it, what is needed again last leaves first (Belady 1966), as `begin` says when steps begin; `bias` per
// value multiplies the time to its next use. What the step itself may write over counts among those. In the
// end what turned out not to be needed stays after all.
void choose_evictions(const GraphFacts& facts, const std::vector<double>& begin,
                      const std::vector<float>& bias, const EvictionLimits& limits, Schedule& schedule);

}  // namespace voxswap::swap
