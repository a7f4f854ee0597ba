// Keys with a value per level of a U-Net, the finest first.
#pragma once

#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments::kinds {

std::vector<Key> level_keys();  // network.kernels, network.strides
Key deep_supervision();         // training.deep_supervision

}  // namespace voxswap::experiments::kinds
