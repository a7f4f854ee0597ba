#include "metrics/components.h"

namespace voxswap::metrics {

Components connected_components(const Mask& mask) {
  static const std::vector<Extent> all = neighbours(3);
  Components found;
  found.labels.assign(mask.voxels.size(), 0);
  std::vector<std::size_t> reached;
  for (std::size_t first = 0; first < mask.voxels.size(); ++first) {
    if (mask.voxels[first] == 0 || found.labels[first] != 0) continue;
    const auto label = static_cast<std::int32_t>(found.sizes.size() + 1);
    found.sizes.push_back(0);
    const auto take = [&](std::size_t voxel) {
      if (mask.voxels[voxel] == 0 || found.labels[voxel] != 0) return;
      found.labels[voxel] = label;
      reached.push_back(voxel);
    };
    take(first);
    while (!reached.empty()) {
      const std::size_t voxel = reached.back();
      reached.pop_back();
      ++found.sizes.back();
      for_neighbours(voxel, mask.size, all, take);
    }
  }
  return found;
}

}  // namespace voxswap::metrics
