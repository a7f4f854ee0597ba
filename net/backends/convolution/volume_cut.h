// How planes and output channels of a convolution are divided among threads. It depends only on shapes and
// does not change results. If all weights fit in a core's L2 cache, a unit makes whole planes; else it makes
// some channels of several planes.
#pragma once

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

struct VolumeCut {
  std::int64_t tile = 1;                // output channels computed together
  std::int64_t block = 1, blocks = 1;   // output channels of a unit, and blocks with that many
  std::int64_t rest = 0;                // remaining output channels, fewer than a tile
  std::int64_t planes = 1, groups = 1;  // of all samples
  std::int64_t part_rows = 1;           // rows of a part of a plane, which fits in L2 cache

  std::int64_t units() const { return (blocks + (rest > 0 ? 1 : 0)) * groups; }
  VolumeUnit unit(const VolumeSizes& sizes, std::int64_t index, const PartMade* made) const;
};

// `words`: of the weights of an output channel. Up to `lanes` channels after the last tile form the rest.
VolumeCut cut_volume(const VolumeSizes& sizes, std::int64_t tile, std::int64_t lanes, std::int64_t words);

std::int64_t taps_of(const VolumeSizes& sizes);
std::int64_t parts_of(std::int64_t whole, std::int64_t part);
std::int64_t whole_parts(std::int64_t whole, std::int64_t part);

}  // namespace voxswap::net::convolution
