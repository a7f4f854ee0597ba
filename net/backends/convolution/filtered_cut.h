// How a convolution by minimal filtering is divided among threads: by shapes alone, and no bit depends on it.
#pragma once

#include <optional>

#include "net/backends/convolution/filtered_sizes.h"

namespace voxswap::net::convolution {

struct FilteredCut {
  std::int64_t tile = 1;               // output channels that are multiplied together
  std::int64_t block = 1, blocks = 1;  // output channels of a unit, and blocks that have so many
  std::int64_t rest = 0;               // behind them, that are fewer than a tile
  std::int64_t tiles = 1, across = 1;  // of a row in a unit; units of a row
  std::int64_t rows = 1, down = 1;     // of a plane
  std::int64_t planes = 1, deep = 1;   // of a sample

  std::int64_t units(const VolumeSizes& sizes) const {
    return sizes.samples * (blocks + (rest > 0 ? 1 : 0)) * deep * down * across;
  }
  std::int64_t parts() const { return across * down; }  // that a plane is made in
  FilteredUnit unit(const VolumeSizes& sizes, std::int64_t index) const;
};

// Nothing where it does not fit what a thread has, or products saved are not worth what transforms cost.
// `lanes`: of a register.
std::optional<FilteredCut> cut_filtered(const VolumeSizes& sizes, std::int64_t lanes);

}  // namespace voxswap::net::convolution
