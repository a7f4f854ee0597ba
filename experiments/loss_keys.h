// The keys that modify the loss, besides training.loss: rows of the table in keys.cpp.
#pragma once

#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

std::vector<Key> loss_keys();
Key ignore_label();  // data.ignore_label

}  // namespace voxswap::experiments
