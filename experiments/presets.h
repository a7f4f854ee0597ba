// training.preset: a published training recipe, as values of the keys that the experiment does not set.
#pragma once

#include <string>
#include <vector>

#include "experiments/rules.h"
#include "experiments/settings.h"

namespace voxswap::experiments {

// Adds what the preset in `settings` sets; returns the keys that it added, none without a preset.
std::vector<std::string> add_preset(Settings& settings);

// What of the preset depends on the sides of what the network sees: the levels of a U-Net, and the weights of
// their losses. Returns the keys that it set.
std::vector<std::string> settle_preset(pipeline::RunOptions& options, const Given& given);

}  // namespace voxswap::experiments
