// How a convolution by minimal filtering is divided among threads. It depends only on shapes and does not
// change results.
#pragma once

#include <optional>

#include "net/backends/convolution/filtered_sizes.h"

namespace voxswap::net::convolution {

struct FilteredCut {
  std::int64_t tile = 1;               // output channels multiplied together
  std::int64_t block = 1, blocks = 1;  // output channels of a unit, and blocks with that many
  std::int64_t rest = 0;               // remaining output channels, fewer than a tile
  std::int64_t tiles = 1, across = 1;  // in a unit's row; units per row
  std::int64_t rows = 1, down = 1;     // per plane
  std::int64_t planes = 1, deep = 1;   // per sample

  std::int64_t units(const VolumeSizes& sizes) const {
    return sizes.samples * (blocks + (rest > 0 ? 1 : 0)) * deep * down * across;
  }
  std::int64_t parts() const { return across * down; }  // units per plane
  FilteredUnit unit(const VolumeSizes& sizes, std::int64_t index) const;
};

// Nullopt if a unit exceeds a thread's scratch, or the transforms cost more than they save. `lanes`: of a
// register.
std::optional<FilteredCut> cut_filtered(const VolumeSizes& sizes, std::int64_t lanes);

}  // namespace voxswap::net::convolution
