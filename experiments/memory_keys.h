// The keys of the section memory: device, budgets of the tiers, and the planner with its options.
#pragma once

#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

std::vector<Key> memory_keys();

}  // namespace voxswap::experiments
