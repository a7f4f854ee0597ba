// The keys of the section training.augment.
#pragma once

#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

// The preset comes first: the other keys then change what it set.
std::vector<Key> augment_keys();

}  // namespace voxswap::experiments
