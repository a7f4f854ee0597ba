// Which planes and rows a voxel of a convolution reads. Included only by the sources of the instruction sets
// (volume_rows.h, tiled_rows.h).
#pragma once

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {
namespace {

// What an output voxel reads along one axis, in order of position.
struct Reads {
  std::int64_t count = 0;
  std::int64_t tap[most_taps], from[most_taps];
};
inline Reads reads_of(const VolumeAxis& axis, bool gradient, std::int64_t made) {
  Reads reads;
  for (std::int64_t i = 0; i < axis.kernel; ++i) {
    const std::int64_t tap = gradient ? axis.kernel - 1 - i : i;
    const std::int64_t place = gradient ? made + axis.before - tap : made * axis.stride - axis.before + tap;
    const std::int64_t from = gradient ? place / axis.stride : place;
    if (place < 0 || (gradient && place % axis.stride != 0) || from >= axis.read) continue;
    reads.tap[reads.count] = tap;
    reads.from[reads.count++] = from;
  }
  return reads;
}

}  // namespace
}  // namespace voxswap::net::convolution
