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
// An arithmetic A provides: Element (of volumes), Packed (of x), Sum and Factor (registers), lanes,
// registers, step (voxels per product), load, load_last, spread, multiply_add, add, and pack.
#pragma once

#include "net/backends/convolution/weight_tile.h"

namespace voxswap::net::convolution {
namespace {

template <class A>
constexpr bool many_registers = A::registers > 16;

// One slab and one plane of taps, for a block of P input channels of which `channels` exist.
template <class A>
struct Block {
  const Sizes& sizes;
  const WeightUnit& unit;
  const typename A::Packed* packed;
  const typename A::Element* dy;     // the slab's first voxel and the unit's first output channel
  float* sums;                       // of the block's first input channel, at the first tap that is packed
  std::int64_t planes, rows, width;  // of the slab
  std::int64_t packed_width, lines;  // positions per packed row; rows of taps packed together
  std::int64_t spacing, last;        // voxels between such positions; the last one that is read
  std::int64_t channels;
  std::int64_t x_line, x_step;     // words of x between packed rows, and between steps along dy
  std::int64_t together, x_plane;  // planes of dy per tile; words of x between them

  std::int64_t dy_plane() const { return sizes.height.output * sizes.width.output * sizes.outputs; }
};

// All lanes of taps H x W from (line, tap) on.
template <class A, int P, int H, int W>
void add_lanes(const Block<A>& b, std::int64_t line, std::int64_t tap) {
  constexpr int most = W > 1 && P > 8 ? 8 : P;  // channels per tile
  constexpr int fewer = most == 8 && W > 1 ? 4 : most > 8 ? 8 : most, few = many_registers<A> ? most : fewer;
  constexpr int wide = many_registers<A> && 2 * fewer * H * W <= 24 ? 2 : 1;  // registers of lanes
  const Axis &height = b.sizes.height, &width = b.sizes.width;
  const bool sliding = width.stride == 1;
  const std::int64_t channel = b.unit.lanes, taps = b.unit.inputs * channel, line_taps = width.kernel * taps;
  const WeightTile<A> at = {b.packed + line * b.x_line + tap * width.dilation * P,
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
      WeightTile<A> tile = at;
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

// All packed taps. With few channels, three rows of taps share a tile.
template <class A, int P>
void add_taps(const Block<A>& b) {
  constexpr int few = many_registers<A> ? 2 : 1;
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

// Where the slab begins in the output volume.
struct Corner {
  std::int64_t sample, plane, row, column;
};

// Whether a slab can be multiplied with x in place: floats, and everything that a tile reads is inside the
// volume.
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

// Packs all planes of x that a slab reads, so that sums of a tap stay in registers for all of them.
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
