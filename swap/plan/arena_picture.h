// The arena over time as an SVG: every residency a rectangle (instructions across, bytes up), by role and by
// what becomes of it, with the sum of what is live, the budget, and lanes of copies below.
#pragma once

#include <string>

#include "swap/plan/plan.h"

namespace voxswap::swap {

std::string arena_svg(const net::Graph& graph, const Plan& plan);

}  // namespace voxswap::swap
