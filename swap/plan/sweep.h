// Packing in order of time: every interval gets its place when it begins, beside those that are live then.
// Looking at what is live alone is fast where there are thousands, and packs pieces well, which are many of
// one size.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/plan/interval.h"

namespace voxswap::swap {

// The offset of every interval: of several sweeps, forwards and backwards in time, the first that is no
// higher than `aim`, or the lowest. Thorough: of more than twice as many. REQUIRES: an aim that is a multiple
// of place_alignment.
std::vector<std::int64_t> sweep(const std::vector<Interval>& intervals, std::int64_t aim, bool thorough);

}  // namespace voxswap::swap
