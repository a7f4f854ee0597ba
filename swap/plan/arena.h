// Assigns offsets in one block of memory to intervals of time: dynamic storage allocation, which is NP-hard,
// so these are heuristics.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/plan/interval.h"

namespace voxswap::swap {

// What a value of `bytes` occupies.
inline std::int64_t occupied(std::int64_t bytes) {
  const std::int64_t least = bytes > 0 ? bytes : 1;
  return (least + place_alignment - 1) / place_alignment * place_alignment;
}

// Sets the offsets so that no two intervals that are live at the same time overlap; returns the height that
// is needed. Deterministic. Places the intervals one after the other in several orders (by size, by size
// times lifetime, by start), each at the lowest or at the tightest gap, then repairs the best packings by
// placing what reaches too high earlier; stops when no more than `enough` or the live limit is needed. Very
// many are packed in order of time instead (sweep.h), which takes some hundredths of a second.
// `effort` is about the number of comparisons; the default takes some tenths of a second at most.
constexpr double usual_effort = 2e8;
std::int64_t pack(std::vector<Interval>& intervals, std::int64_t enough = 0, double effort = usual_effort);

// The largest sum of bytes live at one instruction: no packing is lower.
std::int64_t live_limit(const std::vector<Interval>& intervals);

}  // namespace voxswap::swap
