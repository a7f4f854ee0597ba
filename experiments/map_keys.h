// Keys that contain lists and maps of names: modalities, file patterns, labels, regions.
#pragma once

#include <string>
#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

// Channels of data.files in the order of the experiment file, which std::map does not preserve.
std::vector<std::string> channel_order(const pipeline::Experiment& experiment);

namespace value_types {

Key modalities(const std::string& path);
Key file_patterns(const std::string& path);
Key labels(const std::string& path);
Key regions(const std::string& path);

}  // namespace value_types

}  // namespace voxswap::experiments
