// Detects a rank that computes much more slowly than the others, which then wait for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/collective/ranks.h"

namespace voxswap::pipeline {

// `seconds`: kernel time of each rank. Returns the slowest rank if it took at least 1.5 times the median of
// the others.
std::optional<std::size_t> slow_rank(const std::vector<double>& seconds);

// Collective. Warns on the first rank; returns true if there is a slow rank.
bool warn_of_slow_rank(net::Ranks& ranks, double seconds);

}  // namespace voxswap::pipeline
