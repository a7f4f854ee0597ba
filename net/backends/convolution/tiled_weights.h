// Weight gradient in bf16 over blocks of a volume (slabs, in this file), written once for the processor's
// tiles and for emulated ones (sizes.h):
//
//   dw[o, i, t] = sum over voxels v of dy[v, o] x[v stride + t - before, i]
//
// Products sum over 32 voxels of a plane at a time. Rows of the sums are input channels, columns are output
// channels. A plane of x is transposed once for sixteen input channels and used for all of its taps and all
// planes of dy that read it. Planes of dy are arranged in pairs before (TransposedSizes). Sums are
// accumulated in place.
//
// An arithmetic A provides: Tiles; transpose, which makes 32 voxels of each channel contiguous; and pair,
// which interleaves sixteen channels of two voxels. Included only by the sources of the instruction sets.
#pragma once

#include <cstring>

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/tiled_products.h"

namespace voxswap::net::convolution {

// Layout of the blocks (slabs, in this file) that are multiplied: x transposed, so that the voxels of a
// channel are contiguous, and dy in pairs of voxels. Rows of both have the same length, so a tap is a
// constant offset in the transposed x. Rows of dy are padded with zeros (so an infinity in x may make NaN of
// a weight that does not read it).
//
// With a stride s, x is split into s x s phases of every s-th voxel of every s-th row.

namespace {

constexpr std::int64_t transposed_numbers =
    32 << 10;  // bf16 of x that a thread keeps of a plane of sixteen channels
constexpr std::int64_t paired_numbers = 48 << 10;  // bf16 of dy per slab

struct TransposedAxis {
  std::int64_t phases = 1, places = 1;  // positions per phase
};
inline TransposedAxis transposed_axis(const Axis& axis, std::int64_t made) {
  return {axis.stride < axis.kernel ? axis.stride : axis.kernel, made + (axis.kernel - 1) / axis.stride};
}

struct TransposedSizes {
  TransposedAxis height, width;
  std::int64_t row = 2;    // positions per row, even
  std::int64_t phase = 0;  // numbers per phase, plus those that a tile reads or a strip writes beyond it
  std::int64_t channel =
      0;                    // of a channel: an odd number of lines of the cache, so that tiles spread over it
  std::int64_t chunks = 1;  // chunks of pairs of dy, per plane
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

// Number of bf16 in all planes of a slab of dy, for sixteen output channels.
inline std::int64_t paired_of_lanes(const TransposedSizes& t, std::int64_t planes) {
  return planes * t.chunks * tile_numbers * tile_lanes;
}

// A factor of products for sums of sixteen channels: its address, and where its sums are.
struct Operand {
  const char* at;
  std::int64_t sums;  // offset of its sums in floats
};

template <class A>
class TiledWeights {
 public:
  TiledWeights(const Sizes& sizes, const Slab& slab, const WeightUnit& unit, const void* const* x,
               const void* dy, float* sums)
      : s_(sizes),
        slab_(slab),
        unit_(unit),
        x_(x),
        dy_(static_cast<const Bf16*>(dy) + unit.first_output),
        sums_(sums),
        tiles_of_inputs_(parts(unit.inputs, tile_rows)),
        channels_(parts(unit.inputs, tiles_of_inputs_)) {}

  void add() {
    for (std::int64_t index = unit_.from; index < unit_.to; ++index) {
      set_slab(index);
      const std::int64_t lanes = paired_numbers / paired_of_lanes(sizes_, slab_.planes) * tile_lanes;
      for (first_output_ = 0; first_output_ < unit_.outputs; first_output_ += lanes) {
        outputs_ = least(lanes, unit_.outputs - first_output_);
        for (std::int64_t plane = 0; plane < planes_; ++plane) pair_plane(plane);
        for (std::int64_t first = 0; first < unit_.inputs; first += channels_) add_inputs(first);
      }
    }
    tiles_.release();
  }

 private:
  static std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  void set_slab(std::int64_t index) {
    const std::int64_t above = index / slab_.across, beyond = above / slab_.down;
    const std::int64_t deep = parts(unit_.planes, slab_.planes), first_plane = beyond % deep * slab_.planes;
    sample_ = beyond / deep;
    plane_ = unit_.first_plane + first_plane;
    row_ = above % slab_.down * slab_.rows;
    column_ = index % slab_.across * slab_.width;
    planes_ = least(slab_.planes, unit_.planes - first_plane);
    rows_ = least(slab_.rows, s_.height.output - row_);
    width_ = least(slab_.width, s_.width.output - column_);
    sizes_ = transposed_sizes(s_, rows_, width_);
  }

  Bf16* pairs_of(std::int64_t plane, std::int64_t lane) {
    const std::int64_t tiles = parts(outputs_, tile_lanes),
                       of_tile = sizes_.chunks * tile_numbers * tile_lanes;
    return pairs_ + (plane * tiles + lane / tile_lanes) * of_tile;
  }
  // Arranges a plane of the slab of dy in pairs, sixteen output channels at a time.
  void pair_plane(std::int64_t plane) {
    const std::int64_t voxel = s_.outputs, row = s_.width.output * voxel;
    const Bf16* const dy = dy_ + first_output_ +
                           ((sample_ * s_.depth.output + plane_ + plane) * s_.height.output + row_) * row +
                           column_ * voxel;
    for (std::int64_t lane = 0; lane < outputs_; lane += tile_lanes) {
      const std::int64_t count = least(outputs_ - lane, tile_lanes);
      Bf16* to = pairs_of(plane, lane);
      Bf16* const end = to + sizes_.chunks * tile_numbers * tile_lanes;
      for (std::int64_t r = 0; r < rows_; ++r)
        for (std::int64_t c = 0; c < sizes_.row; c += 2, to += 2 * tile_lanes) {
          const Bf16* const from = dy + r * row + c * voxel + lane;
          A::pair(to, c < width_ ? from : zeros, c + 1 < width_ ? from + voxel : zeros, count);
        }
      std::memset(to, 0,
                  static_cast<std::size_t>(reinterpret_cast<char*>(end) - reinterpret_cast<char*>(to)));
    }
  }

  void add_inputs(std::int64_t first) {
    const std::int64_t channels = least(channels_, unit_.inputs - first);
    tiles_.configure(shapes_of(channels, tile_numbers));
    const std::int64_t from = plane_ * s_.depth.stride - s_.depth.before,
                       end = from + (planes_ - 1) * s_.depth.stride + s_.depth.kernel;
    for (std::int64_t plane = from < 0 ? 0 : from; plane < least(end, s_.depth.input); ++plane) {
      Operand columns[most_columns];
      const std::int64_t count = columns_of(plane, columns);
      if (count == 0) continue;
      for (std::int64_t h = 0; h < sizes_.height.phases; ++h)
        for (std::int64_t w = 0; w < sizes_.width.phases; ++w) transpose_phase(plane, first, channels, h, w);
      multiply_all(columns, count, sums_ + first * unit_.lanes);
    }
  }

  // The planes of dy that read this one, each with its plane of taps.
  std::int64_t columns_of(std::int64_t plane, Operand* columns) {
    const std::int64_t taps = s_.height.kernel * s_.width.kernel;
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < s_.depth.kernel; ++tap) {
      const std::int64_t from = plane + s_.depth.before - tap, made = from / s_.depth.stride;
      if (from % s_.depth.stride != 0 || made < plane_ || made >= plane_ + planes_) continue;
      for (std::int64_t lane = 0; lane < outputs_; lane += tile_lanes)
        columns[count++] = {reinterpret_cast<const char*>(pairs_of(made - plane_, lane)),
                            tap * taps * unit_.inputs * unit_.lanes + first_output_ + lane};
    }
    return count;
  }

  // Transposes one phase of the part of a plane of x that the slab reads, with zeros outside the volume.
  void transpose_phase(std::int64_t plane, std::int64_t first, std::int64_t channels, std::int64_t h,
                       std::int64_t w) {
    const std::int64_t voxel = s_.inputs, step = s_.width.stride * voxel;
    const std::int64_t column = column_ * s_.width.stride - s_.width.before + w;
    Bf16* to = transposed_ + (h * sizes_.width.phases + w) * sizes_.phase;
    for (std::int64_t r = 0; r < sizes_.height.places; ++r, to += sizes_.row) {
      const std::int64_t row = (row_ + r) * s_.height.stride - s_.height.before + h;
      const bool is_there = row >= 0 && row < s_.height.input;
      const Bf16* const x = static_cast<const Bf16*>(x_[sample_ * s_.depth.input + plane]) +
                            unit_.first_input + first +
                            ((is_there ? row : 0) * s_.width.input + column) * voxel;
      for (std::int64_t place = 0; place < sizes_.row; place += tile_numbers) {
        const Bf16* from[tile_numbers];
        for (std::int64_t i = 0; i < tile_numbers; ++i) {
          const std::int64_t at = column + (place + i) * s_.width.stride;
          const bool inside = is_there && at >= 0 && at < s_.width.input && place + i < sizes_.width.places;
          from[i] = inside ? x + (place + i) * step : zeros;
        }
        A::transpose(to + place, sizes_.channel, from, channels);
      }
    }
    for (std::int64_t i = 0; i < channels; ++i)
      std::memset(to + i * sizes_.channel, 0, 2 * tile_numbers * sizeof(Bf16));
  }

  // All taps of a plane of taps, in groups of two, or of three if there is one column.
  void multiply_all(const Operand* columns, std::int64_t count, float* sums) {
    Operand rows[most_taps_of_plane];
    std::int64_t taps = 0;
    for (std::int64_t h = 0; h < s_.height.kernel; ++h)
      for (std::int64_t w = 0; w < s_.width.kernel; ++w) {
        const std::int64_t phase = h % s_.height.stride * sizes_.width.phases + w % s_.width.stride;
        const std::int64_t place = h / s_.height.stride * sizes_.row + w / s_.width.stride;
        rows[taps] = {reinterpret_cast<const char*>(transposed_ + phase * sizes_.phase + place),
                      taps * unit_.inputs * unit_.lanes};
        ++taps;
      }
    for (std::int64_t c = 0; c < count;) {
      const std::int64_t together = least(count - c, taps == 1 ? most_sums : 2);
      for (std::int64_t r = 0; r < taps;) {
        const std::int64_t left = taps - r;
        const std::int64_t of_rows =
            together == 1 ? parts(left, parts(left, most_sums)) : least(left, most_sums / together);
        with_numbers(of_rows, together, [&](auto of_taps, auto of_columns) {
          multiply<of_taps.number, of_columns.number>(rows + r, columns + c, sums);
        });
        r += of_rows;
      }
      c += together;
    }
  }

  template <int R, int C>
  __attribute__((noinline)) void multiply(const Operand* rows, const Operand* columns, float* sums) {
    const std::int64_t stride = 2 * sizes_.channel, chunks = sizes_.chunks, lanes = 4 * unit_.lanes;
    const char *x[R], *dy[C];
    each<R>([&](auto r) { x[r.number] = rows[r.number].at; });
    each<C>([&](auto c) { dy[c.number] = columns[c.number].at; });
    each<R * C>([&](auto tile) {
      constexpr int r = tile.number / C, c = tile.number % C;
      tiles_.template load<tile.number>(sums + rows[r].sums + columns[c].sums, lanes);
    });
    for (std::int64_t i = 0; i < chunks; ++i)
      multiply_tiles<R, C>(tiles_, x, i * tile_bytes, stride, dy, i * tile_rows * tile_bytes);
    each<R * C>([&](auto tile) {
      constexpr int r = tile.number / C, c = tile.number % C;
      tiles_.template store<tile.number>(sums + rows[r].sums + columns[c].sums, lanes);
    });
  }

  static constexpr std::int64_t most_kernel = 3, most_taps_of_plane = most_kernel * most_kernel;
  static constexpr std::int64_t most_columns = most_kernel * paired_numbers / (tile_numbers * tile_lanes);
  static constexpr Bf16 zeros[tile_lanes] = {};

  const Sizes& s_;
  const Slab& slab_;
  const WeightUnit& unit_;
  const void* const* x_;
  const Bf16* dy_;
  float* sums_;
  const std::int64_t tiles_of_inputs_, channels_;  // input channels per tile, except for the last
  std::int64_t sample_ = 0, plane_ = 0, row_ = 0, column_ = 0, planes_ = 0, rows_ = 0, width_ = 0;
  TransposedSizes sizes_;
  std::int64_t first_output_ = 0, outputs_ = 0;  // output channels whose pairs are available
  typename A::Tiles tiles_;
  alignas(64) Bf16 transposed_[transposed_numbers];
  alignas(64) Bf16 pairs_[paired_numbers];
};

template <class A>
void add_tiled_weight_unit(const Sizes& sizes, const Slab& slab, const WeightUnit& unit, const void* const* x,
                           const void* dy, float* sums, std::uint32_t*) {
  TiledWeights<A>(sizes, slab, unit, x, dy, sums).add();
}

}  // namespace

}  // namespace voxswap::net::convolution
