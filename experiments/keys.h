// The one table of experiment keys, from which help, the resolved file, overrides and suggestions follow.
#pragma once

#include <string>
#include <vector>

#include "experiments/key.h"
#include "pipeline/cases/options.h"

namespace voxswap::experiments {

const std::vector<Key>& keys();                // in the order of the resolved file
const Key* find_key(const std::string& path);  // nullptr: there is none

// The options before any file is read. `output` holds the pattern of output.dir, `name` is empty.
pipeline::RunOptions default_options();

// The keys of the section training.augment.
// The preset comes first: the other keys then change what it set.
std::vector<Key> augment_keys();

// Keys with a value per level of a U-Net, the finest first.
namespace value_types {

std::vector<Key> level_keys();  // network.kernels, network.strides
Key deep_supervision();         // training.deep_supervision
// "[1, [2, 2, 1], 2]"; auto without any.
std::string print_levels(const std::vector<net::Along>& levels);

}  // namespace value_types

// The keys that modify the loss, besides training.loss: rows of the table in keys.cpp.
std::vector<Key> loss_keys();
Key ignore_label();  // data.ignore_label

// The keys of the section memory: device, budgets of the tiers, and the planner with its options.
std::vector<Key> memory_keys();

}  // namespace voxswap::experiments
