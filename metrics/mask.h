// A region cut out of a label map, as input for surfaces, components and lesions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/voxel_grid.h"

namespace voxswap::metrics {

// Voxels of a box in a larger grid, x fastest; 1 inside the region, 0 outside. All voxels outside the box are
// outside the region.
struct Mask {
  Size3 size{0, 0, 0};
  std::vector<std::uint8_t> voxels;
  bool in_slice = false;  // cut from a grid that is a single slice

  std::int64_t count() const;  // voxels inside the region
};

// A grid with exactly one side of 1.
bool is_slice(const Size3& size);

void include(VoxelBox& box, const VoxelBox& other);  // extends `box` to the bounding box of both

// The part of a region inside `box`. `region`: its label values in `labels`, a grid of `size`.
Mask cut(std::span<const std::int16_t> labels, const Size3& size, const VoxelBox& box,
         std::span<const int> region);

// The box extended by `margin` voxels, clipped to the grid.
VoxelBox grown(const VoxelBox& box, std::int64_t margin, const Size3& size);

// Voxel offsets (x, y, z) of a neighbourhood: those in the 3 x 3 x 3 cube that differ from the centre in 1 to
// `most_axes` coordinates. 1: 6 neighbours, 2: 18, 3: 26.
std::vector<Size3> neighbours(int most_axes);

// Calls visit(index) for every voxel inside a grid of `size` at one of `offsets` from voxel `index`.
template <class Visit>
void for_neighbours(std::size_t index, const Size3& size, std::span<const Size3> offsets, Visit visit) {
  const auto at = static_cast<std::int64_t>(index);
  const Size3 place{at % size[0], at / size[0] % size[1], at / (size[0] * size[1])};
  for (const Size3& offset : offsets) {
    const std::int64_t x = place[0] + offset[0], y = place[1] + offset[1], z = place[2] + offset[2];
    if (x < 0 || y < 0 || z < 0 || x >= size[0] || y >= size[1] || z >= size[2]) continue;
    visit(static_cast<std::size_t>((z * size[1] + y) * size[0] + x));
  }
}

}  // namespace voxswap::metrics
