// The numbers of a convolution that is made of tiles (tiled_rows.h), as its sources see them. Plain, because
// what is compiled for one instruction set must not be linked into another: no function of these may be
// inline.
#pragma once

#include "net/backends/convolution/tiles.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// What a voxel reads of a row under the taps of a phase: all channels of as many voxels as there are taps,
// contiguous numbers. A product takes a chunk of them: even, at most 32, at most the run's length. The last
// chunk overlaps the one before and has zero weights there (so an infinity may become NaN).
struct Run {
  std::int64_t length = 0;
  std::int64_t chunk = 2, chunks = 0;
};

struct TiledSizes {
  VolumeSizes sizes;  // of phases without advance 0; their weights are words of a tile of outputs
  Run runs[most_phases];
  std::int64_t block = 0;  // words of the weights of a tile of output channels
};

// y = w x, + bias per channel, + start per voxel if not null. Weights: per sixteen output channels,
// [phases][planes and rows of taps][chunks][pairs of a chunk][output channels].
using MakeTiledPlanes = void (*)(const TiledSizes&, const VolumeUnit&, const void* x,
                                 const std::uint32_t* weights, const float* bias, const void* start, void* y);

}  // namespace voxswap::net::convolution
