// Suggests resolutions for a data set, from the sizes of its foregrounds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

struct ResolutionAdvice {
  Size3 size;
  std::string why;          // "fits the median foreground"
  std::int64_t shrunk = 0;  // cases of which some axis has more voxels than `size` gives it
  double kept = 1;          // mean over the cases of the share of foreground voxels that are left
};

// Boxes and cubes with sides that are multiples of `multiple` (what a U-Net of depth 5 asks for is 16),
// smallest first. `foregrounds` are extents in voxels; empty gives nothing.
std::vector<ResolutionAdvice> sensible_resolutions(std::span<const Size3> foregrounds,
                                                   std::int64_t multiple = 16);

}  // namespace voxswap::data
