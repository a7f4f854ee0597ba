// The keys of the section memory: device, budgets of the tiers, the planner and what it is told.
#pragma once

#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

std::vector<Key> memory_keys();

}  // namespace voxswap::experiments
