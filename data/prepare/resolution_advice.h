// Suggests resolutions for a data set based on the sizes of its foregrounds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/voxel_grid.h"

namespace voxswap::data {

struct ResolutionAdvice {
  Size3 size;
  std::string why;          // "fits the median foreground"
  std::int64_t shrunk = 0;  // cases with more voxels than `size` along some axis
  double kept = 1;          // mean fraction of foreground voxels that remain
};

// Boxes and cubes with sides that are multiples of `multiple` (16 for a U-Net of depth 5), smallest first.
// `foregrounds` are sizes in voxels; the result is empty without any.
std::vector<ResolutionAdvice> sensible_resolutions(std::span<const Size3> foregrounds,
                                                   std::int64_t multiple = 16);

}  // namespace voxswap::data
