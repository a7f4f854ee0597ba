// Finds a rank that computes much longer than the others, which then wait for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/collective/ranks.h"

namespace voxswap::pipeline {

// Of the seconds in which each rank ran kernels: the one that took at least half as long again as the median
// of the others; nullopt if there is none.
std::optional<std::size_t> slow_rank(const std::vector<double>& seconds);

// Warns of it, on the first rank; returns whether there is one. All ranks call it together.
bool warn_of_slow_rank(net::Ranks& ranks, double seconds);

}  // namespace voxswap::pipeline
