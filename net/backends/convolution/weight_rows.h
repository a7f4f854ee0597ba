// Weight gradient over blocks of a volume (slabs, in this file), written once for all instruction sets: each
// has a source that includes this file with its own arithmetic and compiler options. Nothing here is linked
// from one into another.
//
//   dw[o, i, t] = sum over voxels v of dy[v, o] x[v stride + t dilation - before, i]
//
// Lanes are output channels, which are contiguous in dy. A tile of sums for some taps and input channels
// stays in registers over a whole slab, and each number of x is multiplied with all lanes. For that, the
// slab's rows of x are packed with zero padding, up to sixteen channels at a time: some kilobytes, read by
// all taps of a plane. With a single tap, floats are read in place. A tile's sums start at zero in each slab,
// so rounding errors do not grow with the volume.
//
// An arithmetic A provides: Element (of volumes), Packed (of x), Sum and Factor (registers), lanes, step
// (voxels per product), many_registers, load, load_last, spread, multiply_add, add, and pack.
#pragma once

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/weight_sizes.h"

namespace voxswap::net::convolution {
namespace {

template <class A>
struct Tile {
  const typename A::Packed* x;    // of the first tap, input channel and voxel
  const typename A::Element* dy;  // of the first lane and voxel
  float* sums;                    // of the first tap, input channel and lane
  std::int64_t planes, rows, width;
  std::int64_t x_plane, dy_plane;      // one plane of dy further
  std::int64_t x_row, x_step, x_line;  // one row of dy further, one step along it; one row of x
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
__attribute__((noinline)) void add_tile(const Tile<A>& t) {
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
__attribute__((noinline)) void add_sliding_tile(const Tile<A>& t) {
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

// One slab and one plane of taps, for a block of P input channels of which `channels` exist.
template <class A>
struct Block {
  const Sizes& sizes;
  const WeightUnit& unit;
  const typename A::Packed* packed;
  const typename A::Element* dy;     // the slab's first voxel and the unit's first output channel
  float* sums;                       // of the block's first input channel, at the first tap that is packed
  std::int64_t planes, rows, width;  // of the slab
  std::int64_t packed_width, lines;  // positions of a packed row; rows of taps that are packed together
  std::int64_t spacing, last;        // voxels from one such position to the next; the last one that is read
  std::int64_t channels;
  std::int64_t x_line, x_step;     // words of x from one packed row, or step along dy, to the next
  std::int64_t together, x_plane;  // planes of dy that a tile goes through; words of x from one to the next

  std::int64_t dy_plane() const { return sizes.height.output * sizes.width.output * sizes.outputs; }
};

// All lanes of taps H x W from (line, tap) on.
template <class A, int P, int H, int W>
void add_lanes(const Block<A>& b, std::int64_t line, std::int64_t tap) {
  constexpr int most = W > 1 && P > 8 ? 8 : P;  // channels of a tile
  constexpr int fewer = most == 8 && W > 1 ? 4 : most > 8 ? 8 : most, few = A::many_registers ? most : fewer;
  constexpr int wide = A::many_registers && 2 * fewer * H * W <= 24 ? 2 : 1;  // registers of lanes
  const Axis &height = b.sizes.height, &width = b.sizes.width;
  const bool sliding = width.stride == 1;
  const std::int64_t channel = b.unit.lanes, taps = b.unit.inputs * channel, line_taps = width.kernel * taps;
  const Tile<A> at = {b.packed + line * b.x_line + tap * width.dilation * P,
                      b.dy,
                      b.sums + line * line_taps + tap * taps,
                      b.together,
                      b.rows,
                      b.width,
                      b.x_plane,
                      b.dy_plane(),
                      height.stride * b.x_line,
                      b.x_step,
                      b.x_line,
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
    for (std::int64_t first = 0; first<b.channels; first += registers> 1 ? fewer : few) {
      Tile<A> tile = at;
      tile.x += first;
      tile.dy += lane;
      tile.sums += first * channel + lane;
      tile.last_lanes = last < A::lanes ? last : A::lanes;
      tile.channels = b.channels - first;
      if (registers > 1)
        add_tile<A, P, fewer, H, W, wide>(tile);
      else if (H == 1 && W == 3 && sliding)
        add_sliding_tile<A, P, few, 1>(tile);
      else
        add_tile<A, P, few, H, W, 1>(tile);
    }
    lane += registers * A::lanes;
  }
}

// All packed taps. With few channels, those of three rows share a tile.
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

// Rows of taps packed together, and where the slab begins in the output volume.
struct Corner {
  std::int64_t sample, plane, row, column;
};

// Whether a slab can be multiplied with x in place: floats, and all that a tile reads is inside the volume.
template <class A, int P>
bool is_read_in_place(const Block<A>& b) {
  if constexpr (sizeof(typename A::Element) != sizeof(typename A::Packed)) return false;
  const Axis &h = b.sizes.height, &w = b.sizes.width;
  return h.kernel == 1 && w.kernel == 1 && h.before == 0 && w.before == 0 && b.channels == P;
}

// Packs the rows of plane x that the slab reads, from row `top` on, which may be outside.
template <class A, int P>
void pack_rows(const Block<A>& b, const Corner& at, std::int64_t top, const typename A::Element* x,
               typename A::Packed* packed) {
  const Axis &height = b.sizes.height, &width = b.sizes.width;
  const std::int64_t rows = (b.rows - 1) * height.stride + b.lines;
  PackedRow packing = {at.column * width.stride - width.before,
                       0,
                       b.packed_width,
                       b.spacing,
                       width.stride,
                       b.last,
                       b.sizes.inputs,
                       b.channels};
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool inside = top + r >= 0 && top + r < height.input;
    packing.side = inside ? width.input : 0;
    A::template pack<P>(packed + r * b.packed_width * P,
                        x + (inside ? top + r : 0) * width.input * b.sizes.inputs, packing);
  }
}

// Multiplies one plane of x with all planes of the slab that read it.
template <class A, int P>
void add_block(Block<A> b, const Corner& at, std::int64_t plane, std::int64_t line,
               const typename A::Element* x, typename A::Packed* packed) {
  const Axis &depth = b.sizes.depth, &height = b.sizes.height, &width = b.sizes.width;
  const std::int64_t top = at.row * height.stride - height.before + line * height.dilation;
  if (is_read_in_place<A, P>(b)) {
    b.x_line = width.input * b.sizes.inputs;
    b.x_step = width.stride * b.sizes.inputs;
    b.packed = reinterpret_cast<const typename A::Packed*>(x + top * b.x_line + at.column * b.x_step);
  } else {
    b.x_line = b.packed_width * P;
    b.x_step = A::step * width.stride / b.spacing * P;
    pack_rows<A, P>(b, at, top, x, packed);
  }
  const typename A::Element* const dy = b.dy;
  float* const sums = b.sums;
  for (std::int64_t tap = 0; tap < depth.kernel; ++tap) {
    const std::int64_t from = plane + depth.before - tap * depth.dilation, made = from / depth.stride;
    if (from % depth.stride != 0 || made < at.plane || made >= at.plane + b.planes) continue;
    b.dy = dy + (made - at.plane) * b.dy_plane();
    b.sums = sums + tap * height.kernel * width.kernel * b.unit.inputs * b.unit.lanes;
    add_taps<A, P>(b);
  }
}

// All planes of x that a slab reads are packed, and sums of a tap stay in registers for all of them.
template <class A, int P>
void add_block_together(Block<A> b, const Corner& at, const void* const* x, std::int64_t channel,
                        typename A::Packed* packed) {
  const Axis &depth = b.sizes.depth, &height = b.sizes.height, &width = b.sizes.width;
  b.x_line = b.packed_width * P;
  b.x_step = A::step * width.stride / b.spacing * P;
  const std::int64_t words = ((b.rows - 1) * height.stride + b.lines) * b.x_line;
  const std::int64_t first = at.plane * depth.stride - depth.before;
  const std::int64_t end = first + (b.planes - 1) * depth.stride + (depth.kernel - 1) * depth.dilation + 1;
  for (std::int64_t plane = first < 0 ? 0 : first; plane < end && plane < depth.input; ++plane)
    pack_rows<A, P>(b, at, at.row * height.stride - height.before,
                    static_cast<const typename A::Element*>(x[at.sample * depth.input + plane]) + channel,
                    packed + (plane - first) * words);
  const typename A::Element* const dy = b.dy;
  float* const sums = b.sums;
  b.x_plane = depth.stride * words;
  for (std::int64_t tap = 0; tap < depth.kernel; ++tap) {
    const std::int64_t read = first + tap * depth.dilation;  // by the slab's first plane
    std::int64_t from = 0, to = b.planes;
    while (from < to && read + from * depth.stride < 0) ++from;
    while (from < to && read + (to - 1) * depth.stride >= depth.input) --to;
    if (from == to) continue;
    b.together = to - from;
    b.packed = packed + (read + from * depth.stride - first) * words;
    b.dy = dy + from * b.dy_plane();
    b.sums = sums + tap * height.kernel * width.kernel * b.unit.inputs * b.unit.lanes;
    add_taps<A, P>(b);
  }
}

// Calls add.template operator()<P>(block, channel) for the unit's input channels, up to P at a time.
template <class A, class Add>
void over_channels(Block<A> b, const Add& add) {
  const WeightUnit& unit = b.unit;
  float* const sums = b.sums;
  for (std::int64_t first = 0; first < unit.inputs; first += b.channels) {
    b.sums = sums + first * unit.lanes;
    const ChannelBlock block = next_block(unit.inputs - first);
    b.channels = block.channels;
    switch (block.places) {
      case 16:
        add.template operator()<16>(b, unit.first_input + first);
        break;
      case 8:
        add.template operator()<8>(b, unit.first_input + first);
        break;
      case 4:
        add.template operator()<4>(b, unit.first_input + first);
        break;
      case 2:
        add.template operator()<2>(b, unit.first_input + first);
        break;
      default:
        add.template operator()<1>(b, unit.first_input + first);
    }
  }
}

// Whether any plane of the slab reads this one.
inline bool is_read(const Axis& depth, std::int64_t plane, std::int64_t from, std::int64_t planes) {
  for (std::int64_t tap = 0; tap < depth.kernel; ++tap) {
    const std::int64_t made = plane + depth.before - tap * depth.dilation;
    if (made % depth.stride == 0 && made >= from * depth.stride && made < (from + planes) * depth.stride)
      return true;
  }
  return false;
}

template <class A>
void add_slab(const Sizes& s, const Slab& slab, const WeightUnit& unit, std::int64_t index,
              const void* const* x, const typename A::Element* dy, float* sums, typename A::Packed* packed) {
  const std::int64_t above = index / slab.across, beyond = above / slab.down,
                     deep = (unit.planes + slab.planes - 1) / slab.planes,
                     first_plane = beyond % deep * slab.planes;
  const Corner at = {beyond / deep, unit.first_plane + first_plane, above % slab.down * slab.rows,
                     index % slab.across * slab.width};
  const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  Block<A> b = {s, unit, packed, dy, sums, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  b.dy +=
      (((at.sample * s.depth.output + at.plane) * s.height.output + at.row) * s.width.output + at.column) *
          s.outputs +
      unit.first_output;
  b.planes = least(slab.planes, unit.planes - first_plane);
  b.rows = least(slab.rows, s.height.output - at.row);
  b.width = least(slab.width, s.width.output - at.column);
  b.lines = s.height.dilation == 1 ? s.height.kernel : 1;
  b.spacing = s.width.kernel == 1 ? A::step * s.width.stride : 1;
  b.last = (b.width - 1) * s.width.stride + (s.width.kernel - 1) * s.width.dilation;
  b.packed_width = b.last / b.spacing + 1;
  if (slab.together) {
    over_channels(b, [&]<int P>(const Block<A>& block, std::int64_t channel) {
      add_block_together<A, P>(block, at, x, channel, packed);
    });
    return;
  }
  const std::int64_t first = at.plane * s.depth.stride - s.depth.before;
  const std::int64_t end =
      first + (b.planes - 1) * s.depth.stride + (s.depth.kernel - 1) * s.depth.dilation + 1;
  for (std::int64_t plane = first < 0 ? 0 : first; plane < least(end, s.depth.input); ++plane) {
    if (!is_read(s.depth, plane, at.plane, b.planes)) continue;
    const auto* const of_plane =
        static_cast<const typename A::Element*>(x[at.sample * s.depth.input + plane]);
    for (std::int64_t line = 0; line < s.height.kernel; line += b.lines) {
      b.sums = sums + line * s.width.kernel * unit.inputs * unit.lanes;
      over_channels(b, [&]<int P>(const Block<A>& block, std::int64_t channel) {
        add_block<A, P>(block, at, plane, line, of_plane + channel, packed);
      });
    }
  }
}

template <class A>
void add_weight_unit(const Sizes& sizes, const Slab& slab, const WeightUnit& unit, const void* const* x,
                     const void* dy, float* sums, std::uint32_t* packed) {
  for (std::int64_t index = unit.from; index < unit.to; ++index)
    add_slab<A>(sizes, slab, unit, index, x, static_cast<const typename A::Element*>(dy), sums,
                reinterpret_cast<typename A::Packed*>(packed));
}

}  // namespace
}  // namespace voxswap::net::convolution
