// Contents of the three memories over the time of a step.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

struct BytesFrom {
  double seconds = 0;      // from this time until the next entry
  std::int64_t bytes = 0;  // occupied
};

struct Occupancy {
  std::vector<BytesFrom> device, host, disk;  // ascending in time; the last entry: after the step
};

// `begin` and `end`: seconds of every instruction, simulated or measured.
Occupancy occupancy(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                    const std::vector<double>& end);

}  // namespace voxswap::swap
