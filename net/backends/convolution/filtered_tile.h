// Products of one frequency (filtered_sizes.h). Sums for several tiles and one or two registers of output
// channels stay in registers while the loops run over planes and rows of taps and all channels. Tiles are
// stored row after row, so the next row of taps is a constant offset away, and row ends need no special case.
// Included only by filtered_rows.h. volume_tile.h describes the arithmetic.
#pragma once

#include "net/backends/convolution/filtered_ahead.h"

namespace voxswap::net::convolution {
namespace {

struct FilteredTile {
  const float* x[most_taps];                // of every plane that is read: the first tile under the first row
  const std::uint32_t* weights[most_taps];  // of the first row of taps
  std::int64_t planes = 0, rows = 1, channels = 1;
  std::int64_t row = 0, block = 0;  // numbers from one row of x, one block of its channels, to the next
  float* sums = nullptr;            // [tiles][registers of lanes]
  Asked asked;                      // with every block of channels
};

// R registers of lanes, V tiles.
template <class A, int R, int V>
__attribute__((noinline)) void multiply_filtered(const FilteredTile& t) {
  typename A::Sum sums[V][R] = {};
  Asked asked = t.asked;
  for (std::int64_t plane = 0; plane < t.planes; ++plane) {
    const std::uint32_t* weights = t.weights[plane];
    for (std::int64_t row = 0; row < t.rows; ++row) {
      const float* of_block = t.x[plane] + row * t.row;
      for (std::int64_t left = t.channels; left > 0; left -= filtered_channels, of_block += t.block) {
        ask(asked);
        const float* const end = of_block + (left < filtered_channels ? left : filtered_channels);
        for (const float* x = of_block; x != end; ++x, weights += R * A::lanes) {
          typename A::Factor factors[R];
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) factors[r] = A::load(weights + r * A::lanes);
#pragma GCC unroll 64
          for (int v = 0; v < V; ++v) {
            const auto spread = A::spread(reinterpret_cast<const char*>(x + v * filtered_channels));
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) sums[v][r] = A::multiply_add(sums[v][r], factors[r], spread);
          }
        }
      }
    }
  }
#pragma GCC unroll 64
  for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) A::store(t.sums + (v * R + r) * A::lanes, sums[v][r]);
  }
}

struct FilteredKind {
  void (*multiply)(const FilteredTile&);
  std::int64_t tiles;
};
constexpr int filtered_kinds = 5;

// Of one register of lanes and of two, the longest first.
template <class A>
constexpr FilteredKind kinds_of_filtered[2][filtered_kinds] = {
    {{multiply_filtered<A, 1, A::sums>, A::sums},
     {multiply_filtered<A, 1, A::sums * 3 / 4>, A::sums * 3 / 4},
     {multiply_filtered<A, 1, A::sums / 2>, A::sums / 2},
     {multiply_filtered<A, 1, A::sums / 4>, A::sums / 4},
     {multiply_filtered<A, 1, 1>, 1}},
    {{multiply_filtered<A, 2, A::sums / 2>, A::sums / 2},
     {multiply_filtered<A, 2, A::sums / 2 * 3 / 4>, A::sums / 2 * 3 / 4},
     {multiply_filtered<A, 2, A::sums / 4>, A::sums / 4},
     {multiply_filtered<A, 2, A::sums / 8>, A::sums / 8},
     {multiply_filtered<A, 2, 1>, 1}}};

// For the last `left` of so many tiles: the shortest that makes all of them, going back over some that are
// made already where it is longer; where there are not so many, the longest that fits.
inline const FilteredKind& next_filtered(const FilteredKind* kinds, std::int64_t left, std::int64_t all) {
  const FilteredKind* best = kinds + filtered_kinds - 1;
  for (const FilteredKind* kind = best; kind != kinds - 1; --kind) {
    if (kind->tiles > all) break;
    best = kind;
    if (kind->tiles >= left) break;
  }
  return *best;
}

}  // namespace
}  // namespace voxswap::net::convolution
