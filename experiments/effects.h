// Which keys have no effect because of other keys: a factor of a schedule without one, a slope of a network
// without leaky ReLUs.
#pragma once

#include <map>
#include <string>

#include "experiments/settings.h"
#include "pipeline/cases/options.h"

namespace voxswap::experiments {

// The keys that were given another value than their default, and in vain: key -> why, as in "network.name is
// unet3d".
std::map<std::string, std::string> without_effect(const Settings& given, const pipeline::RunOptions& options);

}  // namespace voxswap::experiments
