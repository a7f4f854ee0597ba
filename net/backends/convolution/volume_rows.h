// Convolution, written once for all instruction sets: each has a source that includes this file with its own
// arithmetic and compiler options. Nothing here is linked from one into another.
//
//   y[v, o] = sum over taps t and channels i of w[t, i, o] x[v stride - before + t, i]
//
// and likewise the gradient of x, whose voxels form one phase per stride offset; each phase uses some of the
// taps. Lanes are output channels. Tiles (volume_tile.h) are made one after the other along a row; the last
// one overlaps the previous one instead of being shorter.
//
// The order in which a voxel's products are added (planes, rows, channels, voxels) is the same for all tiles
// and volumes, so results do not depend on threads or slabs.
#pragma once

#include "net/backends/convolution/volume_tile.h"

namespace voxswap::net::convolution {
namespace {

// One unit of work.
template <class A>
class Maker {
  using Element = typename A::Element;

 public:
  Maker(const VolumeSizes& sizes, const VolumeUnit& unit, const void* x, const std::uint32_t* weights,
        const float* bias, const void* start, void* y)
      : s_(sizes),
        unit_(unit),
        x_(static_cast<const Element*>(x)),
        start_(static_cast<const Element*>(start)),
        y_(static_cast<Element*>(y)),
        words_((sizes.inputs + A::step - 1) / A::step),
        outputs_(unit.outputs > A::lanes ? 2 * A::lanes : A::lanes),
        block_(words_ * outputs_ * sizes.depth.kernel * sizes.height.kernel * sizes.width.kernel),
        weights_(weights + unit.first_output * block_ / outputs_) {
    for (std::int64_t i = 0; i < unit.outputs + A::lanes; ++i)  // whole registers are read
      bias_[i] = bias != nullptr && i < unit.outputs ? bias[unit.first_output + i] : 0.0F;
    for (std::int64_t i = 0; i < s_.phase_count; ++i) {
      const Phase& phase = s_.phases[i];
      if (phase.taps > 0)
        rows_[i].set(find_tiles<A>(phase.taps, phase.advance, outputs_ > A::lanes ? 2 : 1), phase.count);
    }
  }

  void make() {
    for (std::int64_t plane = unit_.from; plane < unit_.to; ++plane) {
      const Reads planes = reads_of(s_.depth, s_.gradient, plane % s_.depth.made);
      const Element* const x = x_ + plane / s_.depth.made * s_.depth.read * s_.height.read * x_row();
      for (std::int64_t row = 0; row < s_.height.made; ++row) {
        make_row(x, planes, reads_of(s_.height, s_.gradient, row), plane * s_.height.made + row);
        notify_row(s_, unit_, plane, row);
      }
    }
  }

 private:
  std::int64_t x_row() const { return s_.width.read * s_.inputs; }

  static std::int64_t reads_further(const Phase& phase, std::int64_t voxels) {
    return phase.advance == doubled ? voxels / 2 : voxels * phase.advance;
  }
  bool is_new(const Reads& rows, std::int64_t i) const {
    return s_.gradient ? i + 1 == rows.count : rows.tap[i] >= s_.height.kernel - s_.height.stride;
  }

  // x: one sample; rows are numbered consecutively over all planes.
  void make_row(const Element* x, const Reads& planes, const Reads& rows, std::int64_t row) {
    for (std::int64_t i = 0; i < s_.phase_count; ++i) {
      const Phase& phase = s_.phases[i];
      Element* const y = y_ + (row * s_.width.made + phase.first) * s_.outputs + unit_.first_output;
      Segment segments[most_taps * most_taps];
      std::int64_t count = 0;
      for (std::int64_t d = 0; d < planes.count; ++d)
        for (std::int64_t h = 0; h < rows.count; ++h) {
          const std::int64_t line = planes.tap[d] * s_.height.kernel + rows.tap[h];
          segments[count++] = {
              reinterpret_cast<const char*>(x + (planes.from[d] * s_.height.read + rows.from[h]) * x_row()),
              (phase.weights + line * words_ * phase.taps) * outputs_, is_new(rows, h), nullptr};
        }
      if (count > 0 && phase.taps > 0)
        make_tiles(phase, rows_[i], segments, count, y);
      else
        make_without_products(phase, y);
    }
  }

  void make_tiles(const Phase& phase, const RowOfTiles<A>& row, Segment* segments, std::int64_t count,
                  Element* y) {
    constexpr std::int64_t bytes = sizeof(Element);
    Tile tile = {segments, count};
    tile.words = words_;
    tile.voxel = s_.inputs * bytes;
    tile.sums = sums_;
    for (std::int64_t done = 0; done < phase.count;) {
      const TileKind<A>& kind = row.next(phase.count - done);
      const std::int64_t left = phase.count - kind.voxels, first = done < left ? done : left;
      const std::int64_t read = phase.start + reads_further(phase, first), last = read + kind.places - 1;
      tile.offset = read * tile.voxel;
      tile.first_is_there = read >= 0;
      tile.last_is_there = last < s_.width.read;
      const std::int64_t end = first + kind.voxels;
      for (std::int64_t lane = 0; lane < unit_.outputs; lane += outputs_) {
        tile.weights = weights_ + lane / outputs_ * block_;
        ask_ahead(phase, segments, count, tile.offset + reads_further(phase, kind.voxels) * tile.voxel,
                  y + end * phase.step * s_.outputs, kind.voxels, lane);
        kind.multiply(tile);
        finish(phase, y, done, end, lane, sums_ + (done - first) * outputs_);
      }
      done = end;
    }
  }

  // Software prefetch of the rows of x that the next tile reads first, and of the voxels it writes. Rows are
  // visited in turns, in segments too short for the hardware prefetcher. Each row of taps prefetches a share.
  void ask_ahead(const Phase& phase, Segment* segments, std::int64_t count, std::int64_t offset,
                 const Element* y, std::int64_t voxels, std::int64_t lane) const {
    const std::int64_t shares = count * ((unit_.outputs + outputs_ - 1) / outputs_);
    const std::int64_t share = voxels * phase.step * s_.outputs / shares;
    const bool is_start = start_ != nullptr && start_ != y_;
    for (std::int64_t i = 0; i < count; ++i) {
      const Element* made = y + share * (lane / outputs_ * count + i);
      if (is_start && i % 2 == 0) made = start_ + (made - y_);
      const bool reads = segments[i].is_new && lane == 0;
      segments[i].ahead = reads ? segments[i].x + offset : reinterpret_cast<const char*>(made);
    }
  }

  // Voxels without any tap inside.
  void make_without_products(const Phase& phase, Element* y) {
    for (float& sum : sums_) sum = 0;
    for (std::int64_t v = 0; v < phase.count; ++v)
      for (std::int64_t lane = 0; lane < unit_.outputs; lane += outputs_)
        finish(phase, y, v, v + 1, lane, sums_);
  }

  void finish(const Phase& phase, Element* y, std::int64_t from, std::int64_t to, std::int64_t first,
              const float* sums) const {
    const std::int64_t left = unit_.outputs - first, end = left < outputs_ ? left : outputs_;
    const std::int64_t step = phase.step * s_.outputs, count = to - from, lanes = outputs_;
    for (std::int64_t lane = 0; lane < end; lane += A::lanes) {
      const auto mask = A::mask(end - lane < A::lanes ? end - lane : A::lanes);
      const float *of_lanes = sums + lane, *const bias = bias_ + first + lane;
      Element* at = y + from * step + first + lane;
      const Element* start = start_ == nullptr ? nullptr : start_ + (at - y_);
      for (std::int64_t v = 0; v < count; ++v, of_lanes += lanes, at += step) {
        A::finish(at, of_lanes, bias, start, mask);
        if (start != nullptr) start += step;
      }
    }
  }

  const VolumeSizes& s_;
  const VolumeUnit& unit_;
  const Element *x_, *start_;
  Element* y_;
  std::int64_t words_;    // channels of a voxel of x
  std::int64_t outputs_;  // lanes of a tile
  std::int64_t block_;    // words of its weights
  const std::uint32_t* weights_;
  RowOfTiles<A> rows_[most_phases];
  alignas(64) float bias_[most_unit_outputs + A::lanes];
  alignas(64) float sums_[most_tile_voxels * most_tile_outputs];
};

template <class A>
void make_planes(const VolumeSizes& sizes, const VolumeUnit& unit, const void* x,
                 const std::uint32_t* weights, const float* bias, const void* start, void* y) {
  Maker<A>(sizes, unit, x, weights, bias, start, y).make();
}

template <class A>
constexpr VolumeMaker maker_of = {make_planes<A>, A::lanes, A::step};

}  // namespace
}  // namespace voxswap::net::convolution
