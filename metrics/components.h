// Connected components of a region: voxels that touch with a face, an edge or a corner (26 neighbours) belong
// together, as in the BraTS challenge.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/mask.h"

namespace voxswap::metrics {

struct Components {
  std::vector<std::int32_t> labels;  // per voxel: 1, 2, … in the order of their first voxels; 0 outside
  std::vector<std::int64_t> sizes;   // voxels of component 1, 2, …
};

Components connected_components(const Mask& mask);

}  // namespace voxswap::metrics
