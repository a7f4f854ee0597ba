// Convolution by minimal filtering (sizes.h), written once for all instruction sets: their sources include
// this file with the arithmetic of volume_rows.h. Nothing here is linked from one into another.
//
// A unit makes a strip: some rows of some planes. The parts of a plane that it reads are transformed once,
// kept in a core's L2 cache while taps need them, and multiplied frequency by frequency. A voxel's result
// depends only on the position of its tile in the row and on its inputs, which are added in the order of
// planes, rows and channels. So results do not depend on threads or slabs.
#pragma once

#include "net/backends/convolution/filtered_planes.h"

namespace voxswap::net::convolution {

// Products of one frequency (sizes.h). Sums for several tiles and one or two registers of output channels
// stay in registers while the loops run over planes and rows of taps and all channels. Tiles are stored row
// by row, so the next row of taps is a constant offset away, and row ends need no special case.

namespace {

struct FilteredTile {
  const float* x[most_taps];                // per plane read: the first tile under the first row of taps
  const std::uint32_t* weights[most_taps];  // of the first row of taps
  std::int64_t planes = 0, rows = 1, channels = 1;
  std::int64_t row = 0, block = 0;  // distance between rows of x, and between blocks of its channels
  float* sums = nullptr;            // [tiles][registers of lanes]
  Asked asked;                      // prefetched with every block of channels
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

// For one register of lanes and for two, the longest first.
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

// The kind for the last `left` of `all` tiles: the shortest that makes all of them, overlapping finished
// tiles if it is longer; if `all` is less than that, the longest that fits.
inline const FilteredKind& next_filtered(const FilteredKind* kinds, std::int64_t left, std::int64_t all) {
  const FilteredKind* best = kinds + filtered_kinds - 1;
  for (const FilteredKind* kind = best; kind != kinds - 1; --kind) {
    if (kind->tiles > all) break;
    best = kind;
    if (kind->tiles >= left) break;
  }
  return *best;
}

// Applies A: the sums of all frequencies become voxels.
template <class A>
inline __attribute__((always_inline)) void restore_voxels(const typename A::Sum (&sums)[frequencies],
                                                          typename A::Sum (&to)[filtered_voxels]) {
  using Sum = typename A::Sum;
  constexpr float n = near_point, f = far_point;
  const Sum zero = {};
  const Sum even_near = sums[1] + sums[2], odd_near = sums[1] - sums[2];
  const Sum even_far = sums[3] + sums[4], odd_far = sums[3] - sums[4];
  to[0] = sums[0] + (even_near + even_far);
  to[1] = A::multiply_add(odd_near * (zero + n), odd_far, zero + f);
  to[2] = A::multiply_add(even_near * (zero + n * n), even_far, zero + f * f);
  to[3] = sums[5] + A::multiply_add(odd_near * (zero + n * n * n), odd_far, zero + f * f * f);
}

template <class A>
class StripMaker {
 public:
  StripMaker(const VolumeSizes& sizes, const FilteredUnit& unit, const float* x, const float* weights,
             const float* bias, const float* start, float* y, FilteredScratch& scratch)
      : s_(sizes),
        strip_(unit.strip),
        unit_(unit),
        x_(sizes, unit.strip, sizes.inputs,
           {x + unit.strip.sample * sizes.depth.read * plane_of_x(), plane_of_x()}, scratch.x),
        ahead_(sizes, unit.strip),
        start_(start),
        y_(y),
        sums_(scratch.sums),
        tiles_(unit.strip.rows * unit.strip.tiles),
        outputs_(unit.outputs > A::lanes ? 2 * A::lanes : A::lanes),
        line_(sizes.inputs * outputs_),
        frequency_(sizes.depth.kernel * sizes.height.kernel * line_),
        weights_(words(weights) + unit.first_output * frequencies * frequency_ / outputs_) {
    for (std::int64_t i = 0; i < unit.outputs + A::lanes; ++i)  // whole registers are read
      bias_[i] = bias != nullptr && i < unit.outputs ? bias[unit.first_output + i] : 0.0F;
  }

  void make() {
    const FilteredKind* const kinds = kinds_of_filtered<A>[outputs_ > A::lanes ? 1 : 0];
    const std::int64_t end = strip_.plane + strip_.planes, calls = (tiles_ + kinds->tiles - 1) / kinds->tiles;
    for (std::int64_t plane = strip_.plane; plane < end; ++plane) {
      const Reads reads = reads_of(s_.depth, false, plane);
      x_.read(reads);
      ahead_.begin();
      ahead_.add_made(y_, plane, s_.outputs);
      if (start_ != nullptr && start_ != y_) ahead_.add_made(start_, plane, s_.outputs);
      if (x_.next() < x_.end()) ahead_.add_read(x_, x_.next(), s_.inputs);
      ahead_.divide(frequencies * calls);
      for (std::int64_t lane = 0; lane < unit_.outputs; lane += outputs_) {
        for (std::int64_t frequency = 0; frequency < frequencies; ++frequency)
          multiply(reads, kinds, frequency, lane);
        restore(plane, lane);
      }
      if (unit_.made != nullptr) tell(plane);
    }
  }

 private:
  std::int64_t plane_of_x() const { return s_.height.read * s_.width.read * s_.inputs; }
  void tell(std::int64_t plane) const {
    const std::int64_t voxel = strip_.tile * filtered_voxels, left = s_.width.made - voxel;
    const std::int64_t most = strip_.tiles * filtered_voxels;
    unit_.made->call(unit_.made->context,
                     {strip_.sample * s_.depth.made + plane, unit_.part, strip_.row, strip_.rows, voxel,
                      most < left ? most : left, unit_.first_output, unit_.outputs});
  }
  void multiply(const Reads& reads, const FilteredKind* kinds, std::int64_t frequency, std::int64_t lane) {
    const std::uint32_t* const weights = weights_ + (lane / outputs_ * frequencies + frequency) * frequency_;
    FilteredTile tile;
    tile.planes = reads.count, tile.rows = s_.height.kernel, tile.channels = s_.inputs;
    tile.row = x_.row(), tile.block = x_.block();
    for (std::int64_t done = 0; done < tiles_;) {
      const FilteredKind& kind = next_filtered(kinds, tiles_ - done, tiles_);
      const std::int64_t first = done + kind.tiles <= tiles_ ? done : tiles_ - kind.tiles;
      for (std::int64_t i = 0; i < reads.count; ++i) {
        tile.x[i] = x_.plane(reads.from[i]) + frequency * x_.frequency() + first * filtered_channels;
        tile.weights[i] = weights + reads.tap[i] * s_.height.kernel * line_;
      }
      tile.sums = sums_ + (frequency * tiles_ + first) * outputs_;
      tile.asked = ahead_.next(tile.planes * tile.rows * (x_.frequency() / x_.block()));
      kind.multiply(tile);
      done = first + kind.tiles;
    }
  }

  void restore(std::int64_t plane, std::int64_t first_lane) const {
    const std::int64_t left = unit_.outputs - first_lane, lanes = left < outputs_ ? left : outputs_;
    const std::int64_t first = strip_.tile * filtered_voxels, rest = s_.width.made - first;
    const std::int64_t whole = rest / filtered_voxels < strip_.tiles ? rest / filtered_voxels : strip_.tiles;
    const std::int64_t tile = filtered_voxels * s_.outputs;
    for (std::int64_t row = 0; row < strip_.rows; ++row) {
      const std::int64_t line =
          ((strip_.sample * s_.depth.made + plane) * s_.height.made + strip_.row + row) * s_.width.made;
      for (std::int64_t lane = 0; lane < lanes; lane += A::lanes) {
        const auto mask = A::mask(lanes - lane < A::lanes ? lanes - lane : A::lanes);
        const float* const bias = bias_ + first_lane + lane;
        const float* sums = sums_ + row * strip_.tiles * outputs_ + lane;
        std::int64_t at = (line + first) * s_.outputs + unit_.first_output + first_lane + lane;
        for (std::int64_t i = 0; i < whole; ++i, sums += outputs_, at += tile)
          restore_tile(sums, at, filtered_voxels, bias, mask);
        if (whole < strip_.tiles) restore_tile(sums, at, rest % filtered_voxels, bias, mask);
      }
    }
  }
  template <class Mask>
  inline __attribute__((always_inline)) void restore_tile(const float* sums, std::int64_t at,
                                                          std::int64_t count, const float* bias,
                                                          Mask mask) const {
    typename A::Sum all[frequencies], made[filtered_voxels];
#pragma GCC unroll 8
    for (int i = 0; i < frequencies; ++i) all[i] = A::load(words(sums + i * tiles_ * outputs_));
    restore_voxels<A>(all, made);
    alignas(64) float voxels[filtered_voxels * A::lanes];
#pragma GCC unroll 8
    for (int v = 0; v < filtered_voxels; ++v) A::store(voxels + v * A::lanes, made[v]);
#pragma GCC unroll 8
    for (int v = 0; v < filtered_voxels; ++v) {
      if (v >= count) break;
      A::finish(y_ + at + v * s_.outputs, voxels + v * A::lanes, bias,
                start_ == nullptr ? nullptr : start_ + at + v * s_.outputs, mask);
    }
  }

  const VolumeSizes& s_;
  const FilteredStrip& strip_;
  const FilteredUnit& unit_;
  FilteredPlanes<A, PlanesInARow> x_;
  FilteredAhead ahead_;
  const float* const start_;
  float *const y_, *const sums_;         // sums: [frequencies][tiles][lanes]
  const std::int64_t tiles_, outputs_;   // in the strip; lanes of a block
  const std::int64_t line_, frequency_;  // weights of a row of taps, and of all rows
  const std::uint32_t* const weights_;
  alignas(64) float bias_[most_unit_outputs + A::lanes];
};

template <class A>
void make_filtered(const VolumeSizes& sizes, const FilteredUnit& unit, const float* x, const float* weights,
                   const float* bias, const float* start, float* y, FilteredScratch& scratch) {
  StripMaker<A>(sizes, unit, x, weights, bias, start, y, scratch).make();
}

template <class A>
constexpr FilteredMaker filtered_maker_of = {make_filtered<A>, A::lanes};

}  // namespace

}  // namespace voxswap::net::convolution
