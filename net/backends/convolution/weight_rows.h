// The sums of a weight gradient over slabs of a volume, written once for all instruction sets: each has a source
// that includes this with an arithmetic of its own and is compiled with its own options. Nothing here is
// linked from one into another.
//
//   dw[o, i, t] = sum over voxels v of dy[v, o] x[v stride + t dilation - before, i]
//
// Lanes are output channels, of which dy has them side by side; a tile of sums for some taps and input
// channels stays in registers while a slab is gone through, and one number of x meets all lanes. For that, a
// slab's rows of x are packed with zeros around, eight channels at a time: some kilobytes, read by all taps of
// a plane. A tile's sums start at zero in every slab, so that rounding does not grow with the volume.
//
// An arithmetic A has: Element (of volumes), Packed (of x), Sum and Factor (registers), lanes, step (voxels
// that one product takes), many_registers, load, load_last, spread, multiply_add, add, and pack.
#pragma once

#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

template <class A>
struct Tile {
  const typename A::Packed* x;   // of the first tap, input channel and voxel
  const typename A::Element* dy;  // of the first lane and voxel
  float* sums;                   // of the first tap, input channel and lane
  std::int64_t rows, width;
  std::int64_t x_row, x_voxel, x_line;  // one row of dy further, one voxel of it; one row of x
  std::int64_t dy_row, dy_voxel;
  std::int64_t tap, line_taps, channel;  // in the sums: a tap further along a row, a row of taps, a channel
  std::int64_t last_lanes;               // of the last register of lanes
  std::int64_t channels;                 // that are there, of those that the tile has
};

// Channels I of P that are packed, taps H x W, V registers of lanes.
template <class A, int P, int I, int H, int W, int V>
inline __attribute__((always_inline)) void add_voxels(typename A::Sum (&sums)[H][W][I][V],
                                                      const typename A::Factor (&dy)[V],
                                                      const typename A::Packed* x, std::int64_t x_line) {
#pragma GCC unroll 8
  for (int h = 0; h < H; ++h) {
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) {
#pragma GCC unroll 8
      for (int i = 0; i < I; ++i) {
        const auto spread = A::spread(x + h * x_line + w * P + i);
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) sums[h][w][i][v] = A::multiply_add(sums[h][w][i][v], dy[v], spread);
      }
    }
  }
}

template <class A, int P, int I, int H, int W, int V>
__attribute__((noinline)) void add_tile(const Tile<A>& t) {
  typename A::Sum sums[H][W][I][V] = {};
  const auto last_lanes = A::mask(t.last_lanes), all_lanes = A::mask(A::lanes);
  for (std::int64_t row = 0; row < t.rows; ++row) {
    const typename A::Packed* x = t.x + row * t.x_row;
    const typename A::Element* dy = t.dy + row * t.dy_row;
    const typename A::Element* const end = dy + t.width / A::step * A::step * t.dy_voxel;
    typename A::Factor factors[V];
    for (; dy != end; dy += A::step * t.dy_voxel, x += A::step * t.x_voxel) {
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        factors[v] = A::load(dy + v * A::lanes, t.dy_voxel, v + 1 < V ? all_lanes : last_lanes);
      add_voxels<A, P, I, H, W, V>(sums, factors, x, t.x_line);
    }
    if (A::step > 1 && t.width % A::step != 0) {
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        factors[v] = A::load_last(dy + v * A::lanes, v + 1 < V ? all_lanes : last_lanes);
      add_voxels<A, P, I, H, W, V>(sums, factors, x, t.x_line);
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < H; ++h) {
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) {
#pragma GCC unroll 8
      for (int i = 0; i < I; ++i) {
        if (i >= t.channels) continue;
        float* const to = t.sums + h * t.line_taps + w * t.tap + i * t.channel;
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) A::add(to + v * A::lanes, sums[h][w][i][v]);
      }
    }
  }
}

// One slab in one plane of taps, for a block of P input channels of which `channels` are there.
template <class A>
struct Block {
  const Sizes& sizes;
  const WeightUnit& unit;
  const typename A::Packed* packed;
  const typename A::Element* dy;  // the slab's first voxel and the unit's first output channel
  float* sums;                    // of the block's first input channel, at the first tap that is packed
  std::int64_t rows, width, packed_width, lines;  // of dy; positions of a packed row; rows of taps
  std::int64_t channels;
};

// All lanes of taps H x W from (line, tap) on.
template <class A, int P, int H, int W>
void add_lanes(const Block<A>& b, std::int64_t line, std::int64_t tap) {
  constexpr int fewer = P == 8 && W > 1 ? 4 : P, few = A::many_registers ? P : fewer;  // channels that fit
  constexpr int wide = A::many_registers && 2 * fewer * H * W <= 24 ? 2 : 1;           // registers of lanes
  const Axis &height = b.sizes.height, &width = b.sizes.width;
  const std::int64_t channel = b.unit.lanes, taps = b.unit.inputs * channel, line_taps = width.kernel * taps;
  const std::int64_t x_line = b.packed_width * P;
  const Tile<A> at = {b.packed + line * x_line + tap * width.dilation * P,
                      b.dy,
                      b.sums + line * line_taps + tap * taps,
                      b.rows,
                      b.width,
                      height.stride * x_line,
                      width.stride * P,
                      x_line,
                      width.output * b.sizes.outputs,
                      b.sizes.outputs,
                      taps,
                      line_taps,
                      channel,
                      A::lanes,
                      P};
  for (std::int64_t lane = 0; lane < b.unit.outputs;) {
    const std::int64_t left = b.unit.outputs - lane;
    const int registers = left > A::lanes ? wide : 1;
    const std::int64_t last = left - (registers - 1) * A::lanes;
    for (std::int64_t first = 0; first < b.channels; first += registers > 1 ? fewer : few) {
      Tile<A> tile = at;
      tile.x += first;
      tile.dy += lane;
      tile.sums += first * channel + lane;
      tile.last_lanes = last < A::lanes ? last : A::lanes;
      tile.channels = b.channels - first;
      if (registers > 1)
        add_tile<A, P, fewer, H, W, wide>(tile);
      else
        add_tile<A, P, few, H, W, 1>(tile);
    }
    lane += registers * A::lanes;
  }
}

// All taps that are packed. Where channels are few, those of three rows share a tile.
template <class A, int P>
void add_taps(const Block<A>& b) {
  constexpr int few = A::many_registers ? 2 : 1;
  const Axis& width = b.sizes.width;
  for (std::int64_t line = 0; line < b.lines;) {
    std::int64_t lines = 1;
    for (std::int64_t tap = 0; tap < width.kernel;) {
      const std::int64_t left = width.dilation == 1 ? width.kernel - tap : 1;
      if (P <= few && left >= 3 && width.kernel == 3 && b.lines - line >= 3) {
        add_lanes<A, P, P <= few ? 3 : 1, 3>(b, line, tap);
        lines = 3, tap += 3;
      } else if (left >= 3) {
        add_lanes<A, P, 1, 3>(b, line, tap);
        tap += 3;
      } else if (left == 2) {
        add_lanes<A, P, 1, 2>(b, line, tap);
        tap += 2;
      } else {
        add_lanes<A, P, 1, 1>(b, line, tap);
        tap += 1;
      }
    }
    line += lines;
  }
}

// One plane of taps and as many of its rows as are packed together.
struct Lines {
  std::int64_t plane;         // of x
  std::int64_t first, count;  // rows of taps
};

template <class A, int P>
void add_block(Block<A> b, const Lines& lines, const typename A::Element* x, std::int64_t row,
               std::int64_t column, typename A::Packed* packed) {
  const Axis &height = b.sizes.height, &width = b.sizes.width;
  const std::int64_t rows = (b.rows - 1) * height.stride + lines.count;
  const std::int64_t top = row * height.stride - height.before + lines.first * height.dilation;
  const std::int64_t left = column * width.stride - width.before;
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool inside = top + r >= 0 && top + r < height.input;
    const std::int64_t at = inside ? (lines.plane * height.input + top + r) * width.input : 0;
    A::template pack<P>(packed + r * b.packed_width * P, x + at * b.sizes.inputs, b.sizes.inputs, b.channels,
                        left, inside ? width.input : 0, b.packed_width, width.stride);
  }
  add_taps<A, P>(b);
}

template <class A>
void add_lines(Block<A> b, const Lines& lines, const typename A::Element* x, std::int64_t row,
               std::int64_t column, typename A::Packed* packed) {
  const WeightUnit& unit = b.unit;
  float* const sums = b.sums;
  for (std::int64_t first = 0; first < unit.inputs;) {
    const std::int64_t left = unit.inputs - first;
    const auto* from = x + unit.first_input + first;
    b.sums = sums + first * unit.lanes;
    b.channels = left < packed_channels ? left : packed_channels;
    if (left > 4)
      add_block<A, 8>(b, lines, from, row, column, packed);
    else if (left > 2)
      add_block<A, 4>(b, lines, from, row, column, packed);
    else if (left == 2)
      add_block<A, 2>(b, lines, from, row, column, packed);
    else
      add_block<A, 1>(b, lines, from, row, column, packed);
    first += b.channels;
  }
}

template <class A>
void add_slab(const Sizes& s, const Slab& slab, const WeightUnit& unit, std::int64_t index,
              const typename A::Element* x, const typename A::Element* dy, float* sums,
              typename A::Packed* packed) {
  const std::int64_t column = index % slab.across * slab.width, above = index / slab.across;
  const std::int64_t row = above % slab.down * slab.rows, plane = above / slab.down;
  const std::int64_t sample = plane / s.depth.output, z = plane % s.depth.output;
  const std::int64_t rows = s.height.output - row, width = s.width.output - column;
  const std::int64_t together = s.height.dilation == 1 ? s.height.kernel : 1;
  const std::int64_t plane_taps = s.height.kernel * s.width.kernel * unit.inputs * unit.lanes;
  Block<A> b = {s,       unit, packed, dy + ((plane * s.height.output + row) * s.width.output + column) * s.outputs + unit.first_output,
                nullptr, rows < slab.rows ? rows : slab.rows, width < slab.width ? width : slab.width,
                0,       together, 0};
  b.packed_width = (b.width - 1) * s.width.stride + (s.width.kernel - 1) * s.width.dilation + 1;
  for (std::int64_t tap = 0; tap < s.depth.kernel; ++tap) {
    const std::int64_t read = z * s.depth.stride - s.depth.before + tap * s.depth.dilation;
    if (read < 0 || read >= s.depth.input) continue;
    for (std::int64_t line = 0; line < s.height.kernel; line += together) {
      b.sums = sums + tap * plane_taps + line * (plane_taps / s.height.kernel);
      add_lines<A>(b, {sample * s.depth.input + read, line, together}, x, row, column, packed);
    }
  }
}

template <class A>
void add_weight_unit(const Sizes& sizes, const Slab& slab, const WeightUnit& unit, const void* x,
                     const void* dy, float* sums, std::uint32_t* packed) {
  using Element = typename A::Element;
  for (std::int64_t index = unit.from; index < unit.to; ++index)
    add_slab<A>(sizes, slab, unit, index, static_cast<const Element*>(x), static_cast<const Element*>(dy),
                sums, reinterpret_cast<typename A::Packed*>(packed));
}

}  // namespace
}  // namespace voxswap::net::convolution
