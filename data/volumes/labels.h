// Names of the values of a label map, and the regions that are scored.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace voxswap::data {

// A named label value, or a named set of them; both keep the order in which they were written down.
using Labels = std::vector<std::pair<std::string, int>>;                // {necrosis: 1, oedema: 2, …}
using Regions = std::vector<std::pair<std::string, std::vector<int>>>;  // {whole_tumor: [1, 2, 4], …}

}  // namespace voxswap::data
