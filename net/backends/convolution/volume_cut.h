// How the planes and output channels of a convolution that makes a volume are divided among threads: by
// shapes alone, and no bit depends on it. Where all weights stay in a core's second cache, a unit makes whole
// planes; else some channels of several.
#pragma once

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

struct VolumeCut {
  std::int64_t tile = 1;                // output channels that are made together
  std::int64_t block = 1, blocks = 1;   // of a unit, and blocks that have so many
  std::int64_t rest = 0;                // behind them, that are fewer than a tile
  std::int64_t planes = 1, groups = 1;  // of all samples
  std::int64_t part_rows = 1;           // of a part of a plane, which stays in a core's second cache

  std::int64_t units() const { return (blocks + (rest > 0 ? 1 : 0)) * groups; }
  VolumeUnit unit(const VolumeSizes& sizes, std::int64_t index, const PartMade* made) const;
};

// `words`: of the weights of an output channel. Up to `lanes` channels behind the last tile are a rest.
VolumeCut cut_volume(const VolumeSizes& sizes, std::int64_t tile, std::int64_t lanes, std::int64_t words);

std::int64_t taps_of(const VolumeSizes& sizes);
std::int64_t parts_of(std::int64_t whole, std::int64_t part);
std::int64_t whole_parts(std::int64_t whole, std::int64_t part);

}  // namespace voxswap::net::convolution
