// Layout of the blocks (slabs, in this file) that a weight gradient in tiles (tiled_weights.h) multiplies: x
// transposed, so that the voxels of a channel are contiguous, and dy in pairs of voxels. Rows of both have
// the same length, so a tap is a constant offset in the transposed x. Rows of dy are padded with zeros (so an
// infinity in x may make NaN of a weight that does not read it).
//
// With a stride s, x is split into s x s phases of every s-th voxel of every s-th row. Nothing here is linked
// from one source into another.
#pragma once

#include "net/backends/convolution/tiles.h"
#include "net/backends/convolution/weight_sizes.h"

namespace voxswap::net::convolution {
namespace {

constexpr std::int64_t transposed_numbers =
    32 << 10;  // bf16 of x that a thread keeps of a plane of sixteen channels
constexpr std::int64_t paired_numbers = 48 << 10;  // bf16 of dy of a slab

struct TransposedAxis {
  std::int64_t phases = 1, places = 1;  // of each phase
};
inline TransposedAxis transposed_axis(const Axis& axis, std::int64_t made) {
  return {axis.stride < axis.kernel ? axis.stride : axis.kernel, made + (axis.kernel - 1) / axis.stride};
}

struct TransposedSizes {
  TransposedAxis height, width;
  std::int64_t row = 2;    // places of a row, even
  std::int64_t phase = 0;  // of a phase, and as many more as a tile reads or a strip writes beyond it
  std::int64_t channel =
      0;                    // of a channel: an odd number of lines of the cache, so that tiles spread over it
  std::int64_t chunks = 1;  // of pairs of dy, of a plane
};
// For a slab of `rows` rows and `width` voxels of dy.
inline TransposedSizes transposed_sizes(const Sizes& s, std::int64_t rows, std::int64_t width) {
  TransposedSizes t;
  t.height = transposed_axis(s.height, rows);
  t.width = transposed_axis(s.width, width);
  t.row = (t.width.places + 1) / 2 * 2;
  t.phase = t.height.places * t.row + 2 * tile_numbers;
  t.channel =
      ((t.height.phases * t.width.phases * t.phase + tile_numbers - 1) / tile_numbers | 1) * tile_numbers;
  t.chunks = (rows * t.row + tile_numbers - 1) / tile_numbers;
  return t;
}

// bf16 numbers in all planes of a slab of dy, for sixteen output channels.
inline std::int64_t paired_of_lanes(const TransposedSizes& t, std::int64_t planes) {
  return planes * t.chunks * tile_numbers * tile_lanes;
}

}  // namespace
}  // namespace voxswap::net::convolution
