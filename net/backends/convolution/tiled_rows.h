// Convolutions in bf16 by tile products, written once for the processor's tiles and for emulated ones
// (sizes.h). As in volume_rows.h, except that the rows of a tile are consecutive voxels of a row of y, and
// its columns are sixteen output channels.
//
// A row of a tile of x is a chunk of the data that a voxel reads along a row (sizes.h). Channels of
// neighbouring voxels are contiguous, so tiles are loaded in place for any number of channels and any stride,
// and with few channels one product covers several taps: with 4 channels one product covers three taps, with
// 16 two products do. Only a tile whose first or last voxel reads beyond the row uses a copy padded with
// zeros, which is kept for the neighbouring rows of y. The last tile of a row overlaps the previous one.
//
// Sums stay in up to four tiles (tiled_products.h) over all taps and channels.
//
// The order in which a voxel's products are added (planes, rows, chunks) is fixed, so results do not depend
// on threads or slabs.
#pragma once

#include <cstring>

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/tiled_products.h"
#include "net/backends/convolution/volume_tile.h"

namespace voxswap::net::convolution {
namespace {

constexpr std::int64_t most_span = (tile_rows - 1) * 2 + most_taps;  // voxels that a tile reads along a row
constexpr std::int64_t kept_rows = most_taps + 1;                    // per plane of x; a power of two
constexpr std::int64_t kept_ends = 2 * most_taps * kept_rows;
constexpr std::int64_t end_bytes = 256 << 10;
static_assert(end_bytes >= 2 * most_span * 2 * most_inputs);

// A row of taps: the first voxel of a row of x, the position of its weights in those of a tile of outputs,
// and the index of the row among those with kept ends.
struct TapRow {
  const char* x;
  std::int64_t weights;  // words
  std::int64_t kept;
};

// Voxels of a phase that a tile makes, and the voxels that it reads.
struct TileOfVoxels {
  std::int64_t first = 0;  // index in the phase
  std::int64_t done = 0;   // voxels already made by the previous tile
  std::int64_t read = 0;   // first voxel of a row of x, may be -1
  bool is_inside = true;   // everything that it reads
};

// One unit of work. An arithmetic A has: Tiles, and finish, which rounds sums to voxels.
template <class A>
class TiledMaker {
 public:
  TiledMaker(const TiledSizes& sizes, const VolumeUnit& unit, const void* x, const std::uint32_t* weights,
             const float* bias, const void* start, void* y)
      : s_(sizes.sizes),
        runs_(sizes.runs),
        block_(sizes.block),
        unit_(unit),
        x_(static_cast<const char*>(x)),
        start_(static_cast<const Bf16*>(start)),
        y_(static_cast<Bf16*>(y)),
        voxel_(2 * s_.inputs),
        weights_(weights + unit.first_output / tile_lanes * block_) {
    for (std::int64_t i = 0; i < unit.outputs + tile_lanes; ++i)  // whole registers are read
      bias_[i] = bias != nullptr && i < unit.outputs ? bias[unit.first_output + i] : 0.0F;
  }

  void make() {
    for (std::int64_t i = 0; i < s_.phase_count; ++i) {
      if (s_.phases[i].count == 0) continue;
      set_phase(i);
      for (std::int64_t plane = unit_.from; plane < unit_.to; ++plane) {
        const Reads planes = reads_of(s_.depth, s_.gradient, plane % s_.depth.made);
        const char* const x = x_ + plane / s_.depth.made * s_.depth.read * s_.height.read * x_row();
        for (std::int64_t row = 0; row < s_.height.made; ++row) {
          make_row(x, planes, reads_of(s_.height, s_.gradient, row), plane * s_.height.made + row);
          if (i + 1 == s_.phase_count) notify_row(s_, unit_, plane, row);
        }
      }
    }
    tiles_.release();
  }

 private:
  std::int64_t x_row() const { return s_.width.read * voxel_; }
  static std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }
  static std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  // All tiles of a row have the same number of voxels, as few as possible for the number of tiles.
  void set_phase(std::int64_t index) {
    phase_ = &s_.phases[index];
    run_ = runs_[index];
    voxels_ = parts(phase_->count, parts(phase_->count, tile_rows));
    stride_ = phase_->advance * voxel_;
    tiles_.configure(shapes_of(voxels_, run_.chunk));
    keeps_ends_ = kept_ends * span() * voxel_ <= end_bytes;
    for (KeptEnd& end : kept_) end = {};
  }

  // x: one sample; rows are numbered consecutively over all planes.
  void make_row(const char* x, const Reads& planes, const Reads& rows, std::int64_t row) {
    TapRow taps[most_taps * most_taps];
    std::int64_t count = 0;
    const std::int64_t of_row = run_.chunks * run_.chunk / 2 * tile_lanes;
    for (std::int64_t d = 0; d < planes.count; ++d)
      for (std::int64_t h = 0; h < rows.count; ++h)
        taps[count++] = {x + (planes.from[d] * s_.height.read + rows.from[h]) * x_row(),
                         phase_->weights + (planes.tap[d] * s_.height.kernel + rows.tap[h]) * of_row,
                         d * kept_rows + rows.from[h] % kept_rows};
    const std::int64_t y = (row * s_.width.made + phase_->first) * s_.outputs + unit_.first_output;
    if (count > 0 && phase_->taps > 0)
      make_tiles({taps, count}, y);
    else
      make_without_products(y);
  }

  struct TapRows {
    const TapRow* rows;
    std::int64_t count;
  };

  // Makes several tiles along the row together: two if there are several tiles of outputs, else as many as
  // there are sums.
  void make_tiles(const TapRows& taps, std::int64_t y) {
    const std::int64_t all = parts(phase_->count, voxels_);
    const bool in_pairs = unit_.outputs > tile_lanes;
    if (keeps_ends_) keep_ends(taps, all);
    for (std::int64_t tile = 0; tile < all;) {
      const std::int64_t left = all - tile;
      const std::int64_t together = in_pairs ? lesser(left, 2) : parts(left, parts(left, most_sums));
      TileOfVoxels tiles[most_sums];
      for (std::int64_t i = 0; i < together; ++i) tiles[i] = tile_at(tile + i);
      for (std::int64_t lane = 0; lane < unit_.outputs;) {
        const std::int64_t columns = lesser(parts(unit_.outputs - lane, tile_lanes), most_sums / together);
        with_numbers(together, columns, [&](auto rows, auto outputs) {
          multiply<rows.number, outputs.number>(taps, tiles, weights_ + lane / tile_lanes * block_);
        });
        for (std::int64_t i = 0; i < together; ++i)
          finish(tiles[i], sums_ + i * voxels_ * columns * tile_lanes, columns, lane, y);
        lane += columns * tile_lanes;
      }
      tile += together;
    }
  }

  TileOfVoxels tile_at(std::int64_t index) const {
    TileOfVoxels tile;
    tile.first = lesser(index * voxels_, phase_->count - voxels_);
    tile.done = index * voxels_ - tile.first;
    tile.read = phase_->start + tile.first * phase_->advance;
    tile.is_inside = tile.read >= 0 && tile.read + span() <= s_.width.read;
    return tile;
  }
  std::int64_t span() const { return (voxels_ - 1) * phase_->advance + phase_->taps; }

  // R tiles of voxels, C of output channels.
  template <int R, int C>
  __attribute__((noinline)) void multiply(const TapRows& taps, const TileOfVoxels* tiles,
                                          const std::uint32_t* weights) {
    const std::int64_t chunk = 2 * run_.chunk, last = 2 * (run_.length - run_.chunk), stride = stride_;
    const std::int64_t chunks = run_.chunks, block = 4 * block_;
    each<R * C>([&](auto tile) { tiles_.template zero<tile.number>(); });
    for (std::int64_t i = 0; i < taps.count; ++i) {
      const char *x[R], *w[C];
      each<R>([&](auto r) {
        const TileOfVoxels& tile = tiles[r.number];
        x[r.number] =
            tile.is_inside ? taps.rows[i].x + tile.read * voxel_ : end_of(taps.rows[i], tile.read, r.number);
      });
      const char* const of_row = reinterpret_cast<const char*>(weights + taps.rows[i].weights);
      each<C>([&](auto c) { w[c.number] = of_row + c.number * block; });
      std::int64_t at = 0, of_chunk = 0;
      for (std::int64_t c = 0; c < chunks; ++c, at += chunk, of_chunk += chunk / 4 * tile_bytes)
        multiply_tiles<R, C>(tiles_, x, at < last ? at : last, stride, w, of_chunk);
    }
    const std::int64_t voxels = voxels_;
    float* const sums = sums_;
    each<R * C>([&](auto tile) {
      constexpr int r = tile.number / C, c = tile.number % C;
      tiles_.template store<tile.number>(sums + (r * voxels * C + c) * tile_lanes, C * tile_bytes);
    });
  }

  // Copies the ends before they are read, so that no load waits for a store.
  void keep_ends(const TapRows& taps, std::int64_t tiles) {
    for (int end = 0; end < 2; ++end) {
      const TileOfVoxels tile = tile_at(end * (tiles - 1));
      for (std::int64_t i = 0; i < taps.count && !tile.is_inside; ++i) end_of(taps.rows[i], tile.read, 0);
    }
  }
  // The padded copy for a tile at an end of a row. Both ends are kept for the next rows of y and tiles of
  // outputs, if there is room; otherwise they are copied each time, the first tile (number 0) and the last
  // one to separate buffers.
  const char* end_of(const TapRow& row, std::int64_t read, int number) {
    if (!keeps_ends_) return copied(row.x, read, ends_ + (number == 0 ? 0 : end_bytes / 2));
    const std::int64_t place = 2 * row.kept + (read < 0 ? 0 : 1);
    char* const to = ends_ + place * span() * voxel_;
    KeptEnd& kept = kept_[place];
    if (kept.row != row.x || kept.read != read) copied(row.x, read, to);
    kept = {row.x, read};
    return to;
  }
  // Copies the voxels of a row that a tile reads, with zeros outside.
  const char* copied(const char* row, std::int64_t read, char* to) const {
    const std::int64_t voxels = span(), before = read < 0 ? -read : 0;
    const std::int64_t end = lesser(voxels, s_.width.read - read);
    const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count * voxel_); };
    std::memset(to, 0, bytes(before));
    std::memcpy(to + before * voxel_, row + (read + before) * voxel_, bytes(end - before));
    std::memset(to + end * voxel_, 0, bytes(voxels - end));
    return to;
  }

  // y: index of the phase's first voxel and the unit's first channel.
  void finish(const TileOfVoxels& tile, const float* sums, std::int64_t columns, std::int64_t lane,
              std::int64_t y) const {
    for (std::int64_t v = tile.done; v < voxels_; ++v)
      finish_voxel(y + (tile.first + v) * phase_->step * s_.outputs, sums + v * columns * tile_lanes, lane,
                   columns);
  }
  void finish_voxel(std::int64_t y, const float* sums, std::int64_t lane, std::int64_t columns) const {
    for (std::int64_t c = 0; c < columns; ++c, lane += tile_lanes)
      A::finish(y_ + y + lane, sums + c * tile_lanes, bias_ + lane,
                start_ == nullptr ? nullptr : start_ + y + lane, lesser(unit_.outputs - lane, tile_lanes));
  }
  // Voxels that no tap reaches.
  void make_without_products(std::int64_t y) {
    for (int i = 0; i < tile_lanes; ++i) sums_[i] = 0;
    for (std::int64_t v = 0; v < phase_->count; ++v)
      for (std::int64_t lane = 0; lane < unit_.outputs; lane += tile_lanes)
        finish_voxel(y + v * phase_->step * s_.outputs, sums_, lane, 1);
  }

  const VolumeSizes& s_;
  const Run* const runs_;
  const std::int64_t block_;  // words of the weights of a tile of outputs
  const VolumeUnit& unit_;
  const char* x_;
  const Bf16* start_;
  Bf16* y_;
  const std::int64_t voxel_;  // bytes from one voxel of x to the next
  const std::uint32_t* weights_;
  const Phase* phase_ = nullptr;
  Run run_;
  std::int64_t voxels_ = 0, stride_ = 0;  // per tile of the phase; bytes between the positions that they read
  typename A::Tiles tiles_;
  alignas(64) float bias_[most_unit_outputs + tile_lanes];
  alignas(64) float sums_[most_sums * tile_rows * tile_lanes];
  struct KeptEnd {
    const char* row = nullptr;
    std::int64_t read = 0;
  };
  bool keeps_ends_ = false;
  KeptEnd kept_[kept_ends];
  alignas(64) char ends_[end_bytes];
};

template <class A>
void make_tiled_planes(const TiledSizes& sizes, const VolumeUnit& unit, const void* x,
                       const std::uint32_t* weights, const float* bias, const void* start, void* y) {
  TiledMaker<A>(sizes, unit, x, weights, bias, start, y).make();
}

}  // namespace
}  // namespace voxswap::net::convolution
