// Sizes and positions in voxel grids. All are in the order x, y, z; arrays of voxels are stored x fastest, so
// the same size as a Shape reads D, H, W = z, y, x.
#pragma once

#include <array>
#include <cstdint>

namespace voxswap {

using Size3 = std::array<std::int64_t, 3>;  // voxels along x, y, z: a size, an index or an offset

}  // namespace voxswap
