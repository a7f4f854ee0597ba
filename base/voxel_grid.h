// Sizes and positions in voxel grids. All are in the order x, y, z; arrays of voxels are stored x fastest, so
// the same size as a Shape reads D, H, W = z, y, x.
#pragma once

#include <array>
#include <cstdint>

namespace voxswap {

using Size3 = std::array<std::int64_t, 3>;  // voxels along x, y, z: a size, an index or an offset
using Spacing = std::array<double, 3>;      // mm from voxel to voxel along the grid's axes x, y, z

inline std::int64_t voxels_in(const Size3& size) {
  return size[0] * size[1] * size[2];
}
inline double voxel_volume(const Spacing& spacing) {  // in mm^3
  return spacing[0] * spacing[1] * spacing[2];
}

// A box of whole voxels in a grid. `start` is its first voxel; it is negative for a box that extends beyond
// the grid (padding).
struct VoxelBox {
  Size3 start{0, 0, 0}, size{0, 0, 0};  // voxels along x, y, z

  bool empty() const { return size[0] == 0; }
  Size3 end() const { return {start[0] + size[0], start[1] + size[1], start[2] + size[2]}; }
  bool operator==(const VoxelBox&) const = default;
};

}  // namespace voxswap
