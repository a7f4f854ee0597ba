// Products of tiles for the convolution kernels. Of the eight tile registers, four hold sums, two rows of the
// left factor and two columns of the right one. The shorter side stays loaded while the other is streamed.
//
// A product of full tiles takes 16 cycles, and its sum is available some cycles later (Intel's optimization
// manual). Four independent sums hide that latency. Loads per product should stay well below two tiles: 1 for
// 2 x 2 sums, 1.25 for 4 x 1 and 1 x 4, 1.33 for 3 x 1.
//
// Included only by the sources of the instruction sets and by tests.
#pragma once

#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

constexpr int most_sums = 4;  // in tiles
constexpr int row_tiles = most_sums, column_tiles = row_tiles + 2;

template <int N>
struct Number {
  static constexpr int number = N;
};
// Calls function(Number<0>()), …, function(Number<N - 1>()).
template <int N, class Function>
inline __attribute__((always_inline)) void each(const Function& function) {
  if constexpr (N > 0) {
    each<N - 1>(function);
    function(Number<N - 1>());
  }
}

// Shapes for products of `rows` rows with `numbers` bf16.
inline TileShapes shapes_of(std::int64_t rows, std::int64_t numbers) {
  TileShapes shapes;
  const auto set = [&](int from, int to, std::int64_t count, std::int64_t bytes) {
    for (int tile = from; tile < to; ++tile) {
      shapes.rows[tile] = static_cast<std::uint8_t>(count);
      shapes.row_bytes[tile] = static_cast<std::uint16_t>(bytes);
    }
  };
  set(0, row_tiles, rows, tile_bytes);
  set(row_tiles, column_tiles, rows, 2 * numbers);
  set(column_tiles, column_tiles + 2, numbers / 2, tile_bytes);
  return shapes;
}

// Adds the products of R row tiles, from x[r] on with `stride` bytes between rows, and C column tiles to sum
// tiles r C + c.
template <int R, int C, class Tiles>
inline __attribute__((always_inline)) void multiply_tiles(Tiles& tiles, const char* const (&x)[R],
                                                          std::int64_t x_offset, std::int64_t stride,
                                                          const char* const (&w)[C], std::int64_t w_offset) {
  const auto load_row = [&](auto r) __attribute__((always_inline)) {
    tiles.template load<row_tiles + r.number % 2>(x[r.number] + x_offset, stride);
  };
  const auto load_column = [&](auto c) __attribute__((always_inline)) {
    tiles.template load<column_tiles + c.number % 2>(w[c.number] + w_offset, tile_bytes);
  };
  const auto multiply_add = [&](auto r, auto c) __attribute__((always_inline)) {
    tiles.template multiply_add<r.number * C + c.number, row_tiles + r.number % 2,
                                column_tiles + c.number % 2>();
  };
  if constexpr (C > 2) {
    load_row(Number<0>());
    each<C>([&](auto c) __attribute__((always_inline)) {
      load_column(c);
      multiply_add(Number<0>(), c);
    });
  } else {
    each<C>(load_column);
    each<R>([&](auto r) __attribute__((always_inline)) {
      load_row(r);
      each<C>([&](auto c) __attribute__((always_inline)) { multiply_add(r, c); });
    });
  }
}

// Calls function(Number<R>(), Number<C>()). REQUIRES: R C <= most_sums.
template <class Function>
inline void with_numbers(std::int64_t rows, std::int64_t columns, const Function& function) {
  switch (rows * 10 + columns) {
    case 11:
      return function(Number<1>(), Number<1>());
    case 12:
      return function(Number<1>(), Number<2>());
    case 13:
      return function(Number<1>(), Number<3>());
    case 14:
      return function(Number<1>(), Number<4>());
    case 21:
      return function(Number<2>(), Number<1>());
    case 22:
      return function(Number<2>(), Number<2>());
    case 31:
      return function(Number<3>(), Number<1>());
    default:
      return function(Number<4>(), Number<1>());
  }
}

}  // namespace
}  // namespace voxswap::net::convolution
