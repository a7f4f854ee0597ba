#include "metrics/mask.h"

#include <algorithm>

namespace voxswap::metrics {

std::int64_t Mask::count() const {
  return std::count(voxels.begin(), voxels.end(), std::uint8_t{1});
}

bool is_slice(const Size3& size) {
  return std::count(size.begin(), size.end(), 1) == 1;
}

void include(VoxelBox& box, const VoxelBox& other) {
  if (other.empty()) return;
  if (box.empty()) {
    box = other;
    return;
  }
  const Size3 end = box.end(), other_end = other.end();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.start[axis] = std::min(box.start[axis], other.start[axis]);
    box.size[axis] = std::max(end[axis], other_end[axis]) - box.start[axis];
  }
}

Mask cut(std::span<const std::int16_t> labels, const Size3& size, const VoxelBox& box,
         std::span<const int> region) {
  Mask mask;
  mask.size = box.size;
  mask.in_slice = is_slice(size);
  mask.voxels.reserve(static_cast<std::size_t>(voxels_in(box.size)));
  for (std::int64_t z = box.start[2]; z < box.end()[2]; ++z) {
    for (std::int64_t y = box.start[1]; y < box.end()[1]; ++y) {
      const auto row = static_cast<std::size_t>((z * size[1] + y) * size[0] + box.start[0]);
      for (const std::int16_t label : labels.subspan(row, static_cast<std::size_t>(box.size[0])))
        mask.voxels.push_back(std::find(region.begin(), region.end(), int{label}) != region.end());
    }
  }
  return mask;
}

VoxelBox grown(const VoxelBox& box, std::int64_t margin, const Size3& size) {
  VoxelBox result;
  if (box.empty()) return result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.start[axis] = std::max<std::int64_t>(box.start[axis] - margin, 0);
    result.size[axis] = std::min(box.end()[axis] + margin, size[axis]) - result.start[axis];
  }
  return result;
}

std::vector<Size3> neighbours(int most_axes) {
  std::vector<Size3> offsets;
  for (std::int64_t z = -1; z <= 1; ++z) {
    for (std::int64_t y = -1; y <= 1; ++y) {
      for (std::int64_t x = -1; x <= 1; ++x) {
        const auto axes = x * x + y * y + z * z;
        if (axes >= 1 && axes <= most_axes) offsets.push_back({x, y, z});
      }
    }
  }
  return offsets;
}

}  // namespace voxswap::metrics
