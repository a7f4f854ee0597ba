// The table of all experiment keys; help, resolved files, overrides and suggestions are derived from it.
#pragma once

#include <string>
#include <vector>

#include "experiments/key.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::experiments {

const std::vector<Key>& keys();                // in the order of the resolved file
const Key* find_key(const std::string& path);  // nullptr if there is none

// An experiment with defaults only. `output` is the pattern of output.dir; `name` is empty.
pipeline::Experiment default_experiment();

// The keys of the section training.augment. The preset is first, since the other keys modify it.
std::vector<Key> augment_keys();

// Keys with one value per level of a U-Net, finest level first.
namespace value_types {

std::vector<Key> level_keys();   // network.kernels, network.strides
std::vector<Key> recipe_keys();  // preprocess.schemes, preprocess.transpose
Key deep_supervision();          // training.deep_supervision
// "[1, [2, 2, 1], 2]", or auto if empty.
std::string print_levels(const std::vector<net::Along>& levels);

}  // namespace value_types

// The keys that modify the loss, except training.loss.
std::vector<Key> loss_keys();
Key ignore_label();  // data.ignore_label

// The keys of the section memory: device, budgets of the tiers, planner and its options.
std::vector<Key> memory_keys();

}  // namespace voxswap::experiments
