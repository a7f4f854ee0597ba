// Builds a schedule: what is swapped, in which idle times, and when its memory is released and reacquired.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "swap/planners/schedule.h"

namespace voxswap::swap {

enum class Prefetch {
  early,   // as early as the time of the copy asks for and memory allows
  at_use,  // when the value is needed
};

struct ScheduleOptions {
  std::int64_t device_budget = unlimited;
  Prefetch prefetch = Prefetch::early;
  std::int64_t least_bytes = 0;  // smaller values stay
  // What takes longer, as is seen by its runs or its copies alone, is not worked out: seconds and excess are
  // the largest numbers then.
  double most_seconds = std::numeric_limits<double>::max();
  std::int64_t reserve = 0;  // bytes that are left for copies on their way when it is chosen what stays
};

// Chooses the stretches so that memory is within the budget (leaving.h, which says what `bias` is), then host
// or disk, then windows and time.
Schedule schedule(const GraphFacts& facts, Sequence sequence, const std::vector<float>& bias,
                  const ScheduleOptions& options);

// For stretches chosen elsewhere: tiers, then windows and time. With fixed returns, s is taken as given.
void finish_schedule(const GraphFacts& facts, const ScheduleOptions& options, bool fixed_returns,
                     Schedule& schedule);

}  // namespace voxswap::swap
