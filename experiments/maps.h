// The keys that hold lists and maps of names: modalities, file patterns, labels, regions.
#pragma once

#include "experiments/keys.h"

namespace voxswap::kinds {

Key modalities(const std::string& path);
Key file_patterns(const std::string& path);
Key labels(const std::string& path);
Key regions(const std::string& path);

}  // namespace voxswap::kinds
