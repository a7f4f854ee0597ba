// The products of a weight gradient (weight_rows.h) over a slab: the sums of a tile, some taps and input
// channels, stay in registers. Included only by weight_rows.h.
#pragma once

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

template <class A>
struct WeightTile {
  const typename A::Packed* x;    // of the first tap, input channel and voxel
  const typename A::Element* dy;  // of the first lane and voxel
  float* sums;                    // of the first tap, input channel and lane
  std::int64_t planes, rows, width;
  std::int64_t x_plane, dy_plane;      // to the next plane of dy
  std::int64_t x_row, x_step, x_line;  // to the next row of dy, the next step along it, and the next row of x
  std::int64_t dy_row, dy_voxel;
  std::int64_t tap, line_taps, channel;  // distances in the sums: next tap along a row, next row of taps,
                                         // next channel
  std::int64_t last_lanes;               // in the last register of lanes
  std::int64_t channels;                 // existing channels of the tile
};

// I of P packed channels, taps H x W, V registers of lanes.
template <class A, int P, int I, int H, int W, int V>
inline __attribute__((always_inline)) void add_voxels(typename A::Sum (&sums)[H][W][I][V],
                                                      const typename A::Factor (&dy)[V],
                                                      const typename A::Packed* x, std::int64_t x_line) {
#pragma GCC unroll 16
  for (int h = 0; h < H; ++h) {
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) {
#pragma GCC unroll 16
      for (int i = 0; i < I; ++i) {
        const auto spread = A::spread(x + h * x_line + w * P + i);
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) sums[h][w][i][v] = A::multiply_add(sums[h][w][i][v], dy[v], spread);
      }
    }
  }
}

template <class A, int P, int I, int H, int W, int V>
__attribute__((noinline)) void add_tile(const WeightTile<A>& t) {
  typename A::Sum sums[H][W][I][V] = {};
  const auto last_lanes = A::mask(t.last_lanes), all_lanes = A::mask(A::lanes);
  std::int64_t plane = 0, row = 0;
  for (std::int64_t line = 0; line < t.planes * t.rows; ++line, ++row) {
    if (row == t.rows) ++plane, row = 0;
    const typename A::Packed* x = t.x + plane * t.x_plane + row * t.x_row;
    const typename A::Element* dy = t.dy + plane * t.dy_plane + row * t.dy_row;
    const typename A::Element* const end = dy + t.width / A::step * A::step * t.dy_voxel;
    typename A::Factor factors[V];
    for (; dy != end; dy += A::step * t.dy_voxel, x += t.x_step) {
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) {
        fetch_beyond(dy + v * A::lanes);
        factors[v] = A::load(dy + v * A::lanes, t.dy_voxel, v + 1 < V ? all_lanes : last_lanes);
      }
      add_voxels<A, P, I, H, W, V>(sums, factors, x, t.x_line);
    }
    if (A::step > 1 && t.width % A::step != 0) {
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v)
        factors[v] = A::load_last(dy + v * A::lanes, v + 1 < V ? all_lanes : last_lanes);
      add_voxels<A, P, I, H, W, V>(sums, factors, x, t.x_line);
    }
  }
#pragma GCC unroll 16
  for (int h = 0; h < H; ++h) {
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) {
#pragma GCC unroll 16
      for (int i = 0; i < I; ++i) {
        if (i >= t.channels) continue;
        float* const to = t.sums + h * t.line_taps + w * t.tap + i * t.channel;
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) A::add(to + v * A::lanes, sums[h][w][i][v]);
      }
    }
  }
}

// Three taps of a row without a stride: a number of x (or of a pair of voxels, those at an even and an odd
// position) is multiplied with all voxels of dy that need it. `factors`: those of the last steps along dy,
// then this one's.
template <class A, int P, int I, int V, bool beyond>
inline __attribute__((always_inline)) void add_sliding_step(
    typename A::Sum (&sums)[3][I][V], const typename A::Factor (&factors)[4 - A::step][V],
    const typename A::Packed* x) {
#pragma GCC unroll 16
  for (int i = 0; i < I; ++i) {
    const auto spread = A::spread(x + i);
    if constexpr (A::step == 1) {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        sums[0][i][v] = A::multiply_add(sums[0][i][v], factors[2][v], spread);
        sums[1][i][v] = A::multiply_add(sums[1][i][v], factors[1][v], spread);
        sums[2][i][v] = A::multiply_add(sums[2][i][v], factors[0][v], spread);
      }
    } else {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        sums[2][i][v] = A::multiply_add(sums[2][i][v], factors[0][v], spread);
        if (!beyond) sums[0][i][v] = A::multiply_add(sums[0][i][v], factors[1][v], spread);
      }
      if (beyond) continue;
      const auto odd = A::spread(x + P + i);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sums[1][i][v] = A::multiply_add(sums[1][i][v], factors[1][v], odd);
    }
  }
}

template <class A, int P, int I, int V>
__attribute__((noinline)) void add_sliding_tile(const WeightTile<A>& t) {
  constexpr int kept = 4 - A::step;
  typename A::Sum sums[3][I][V] = {};
  const auto last_lanes = A::mask(t.last_lanes), all_lanes = A::mask(A::lanes);
  std::int64_t plane = 0, row = 0;
  for (std::int64_t line = 0; line < t.planes * t.rows; ++line, ++row) {
    if (row == t.rows) ++plane, row = 0;
    const typename A::Packed* x = t.x + plane * t.x_plane + row * t.x_row;
    const typename A::Element* dy = t.dy + plane * t.dy_plane + row * t.dy_row;
    typename A::Factor factors[kept][V] = {};
    for (std::int64_t at = 0; at < t.width; at += A::step, dy += A::step * t.dy_voxel, x += t.x_step) {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
#pragma GCC unroll 2
        for (int k = 0; k + 1 < kept; ++k) factors[k][v] = factors[k + 1][v];
        const auto mask = v + 1 < V ? all_lanes : last_lanes;
        fetch_beyond(dy + v * A::lanes);
        factors[kept - 1][v] = at + A::step <= t.width ? A::load(dy + v * A::lanes, t.dy_voxel, mask)
                                                       : A::load_last(dy + v * A::lanes, mask);
      }
      add_sliding_step<A, P, I, V, false>(sums, factors, x);
    }
#pragma GCC unroll 2
    for (int beyond = 1; beyond < kept; ++beyond, x += t.x_step) {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
#pragma GCC unroll 2
        for (int k = 0; k + 1 < kept; ++k) factors[k][v] = factors[k + 1][v];
        factors[kept - 1][v] = typename A::Factor{};
      }
      add_sliding_step<A, P, I, V, true>(sums, factors, x);
    }
  }
#pragma GCC unroll 3
  for (int w = 0; w < 3; ++w) {
#pragma GCC unroll 16
    for (int i = 0; i < I; ++i) {
      if (i >= t.channels) continue;
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) A::add(t.sums + w * t.tap + i * t.channel + v * A::lanes, sums[w][i][v]);
    }
  }
}

}  // namespace
}  // namespace voxswap::net::convolution
