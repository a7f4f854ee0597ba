// Weight gradient by minimal filtering (sizes.h), written once for all instruction sets. Their
// sources include this file with the arithmetic of volume_rows.h. Nothing here is linked from one into
// another.
//
// The roles change: four voxels of dy and six voxels of x give three taps. The points are the same, so x is
// transformed as for a convolution:
//
//   dw = sum over tiles of A' [ (G' dy) * (B x) ]
//
// The sums of each frequency are a matrix product of x and dy. A' is applied once to the sums of a unit. Sums
// over the tiles of a plane start at zero, so rounding errors do not grow with the volume.
#pragma once

#include "net/backends/convolution/filtered_planes.h"
#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

// Applies G' to four voxels of dy; A' does the divisions of each frequency.
template <class A>
inline __attribute__((always_inline)) void transform_gradient(const typename A::Sum (&dy)[filtered_voxels],
                                                              typename A::Sum (&to)[frequencies]) {
  using Sum = typename A::Sum;
  constexpr float n = near_point, f = far_point;
  const Sum zero = {};
  const Sum even_near = A::multiply_add(dy[0], dy[2], zero + n * n),
            odd_near = A::multiply_add(dy[1] * (zero + n), dy[3], zero + n * n * n),
            even_far = A::multiply_add(dy[0], dy[2], zero + f * f),
            odd_far = A::multiply_add(dy[1] * (zero + f), dy[3], zero + f * f * f);
  to[0] = dy[0];
  to[1] = even_near + odd_near;
  to[2] = even_near - odd_near;
  to[3] = even_far + odd_far;
  to[4] = even_far - odd_far;
  to[5] = dy[3];
}

// Adds the products of `tiles` tiles to sums [input channels][lanes]: I channels of x by V registers of dy.
constexpr std::int64_t tiles_together = 16;  // between prefetches
template <class A, int I, int V>
__attribute__((noinline)) void add_filtered(const float* x, const float* dy, std::int64_t tiles,
                                            std::int64_t lanes, float* to, Asked asked) {
  typename A::Sum sums[I][V] = {};
  for (std::int64_t left = tiles; left > 0; left -= tiles_together) {
    ask(asked);
    const float* const end = x + (left < tiles_together ? left : tiles_together) * filtered_channels;
    for (; x != end; x += filtered_channels, dy += lanes) {
      typename A::Factor factors[V];
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) factors[v] = A::load(words(dy + v * A::lanes));
#pragma GCC unroll 16
      for (int i = 0; i < I; ++i) {
        const auto spread = A::spread(reinterpret_cast<const char*>(x + i));
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) sums[i][v] = A::multiply_add(sums[i][v], factors[v], spread);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < I; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      float* const at = to + i * lanes + v * A::lanes;
      A::store(at, A::load(words(at)) + sums[i][v]);
    }
  }
}

// One unit of work.
template <class A>
class FilteredWeights {
 public:
  FilteredWeights(const VolumeSizes& sizes, const FilteredStrip& strip, const WeightUnit& unit,
                  const void* const* x, const float* dy, FilteredWeightScratch& scratch)
      : s_(sizes),
        strip_(strip),
        unit_(unit),
        ahead_(sizes, strip),
        x_(sizes, strip, unit.inputs, {x + strip.sample * sizes.depth.read, unit.first_input}, scratch.x),
        dy_(dy + unit.first_output),
        sums_(scratch.sums),
        made_(scratch.dy),
        tiles_(strip.rows * strip.tiles) {}

  void add() {
    for (std::int64_t plane = strip_.plane; plane < strip_.plane + strip_.planes; ++plane) {
      const Reads reads = reads_of(s_.depth, false, plane);
      x_.read(reads);
      transform_rows(plane);
      ahead_.begin();
      if (plane + 1 < strip_.plane + strip_.planes) ahead_.add_made(dy_, plane + 1, unit_.outputs);
      if (x_.next() < x_.end()) ahead_.add_read(x_, x_.next(), unit_.inputs);
      ahead_.divide(frequencies * reads.count * s_.height.kernel * tiles_of_sums());
      for (std::int64_t frequency = 0; frequency < frequencies; ++frequency)
        for (std::int64_t i = 0; i < reads.count; ++i)
          for (std::int64_t row = 0; row < s_.height.kernel; ++row) {
            const std::int64_t line = reads.tap[i] * s_.height.kernel + row;
            multiply(x_.plane(reads.from[i]) + frequency * x_.frequency() + row * x_.row(),
                     made_ + frequency * tiles_ * unit_.lanes,
                     sums_ + (frequency * s_.depth.kernel * s_.height.kernel + line) * filtered_channels *
                                 unit_.lanes);
          }
    }
  }

 private:
  static constexpr bool many_registers = A::sums > 16;
  static constexpr int alone = many_registers ? 16 : 8, beside = alone / 2;  // channels of a tile of sums

  // Number of tiles of sums for all channels and lanes.
  std::int64_t tiles_of_sums() const {
    const std::int64_t pairs = unit_.lanes / (2 * A::lanes);
    return pairs * filtered_channels / beside +
           (unit_.lanes / A::lanes - 2 * pairs) * filtered_channels / alone;
  }
  void multiply(const float* x, const float* dy, float* sums) {
    const std::int64_t blocks = (tiles_ + tiles_together - 1) / tiles_together;
    for (std::int64_t lane = 0; lane < unit_.lanes;) {
      const bool two = unit_.lanes - lane >= 2 * A::lanes;
      const int step = two ? beside : alone;
      for (std::int64_t i = 0; i < filtered_channels; i += step)
        (two ? add_filtered<A, beside, 2> : add_filtered<A, alone, 1>)(x + i, dy + lane, tiles_, unit_.lanes,
                                                                       sums + i * unit_.lanes + lane,
                                                                       ahead_.next(blocks));
      lane += two ? 2 * A::lanes : A::lanes;
    }
  }

  void transform_rows(std::int64_t plane) const {
    for (std::int64_t row = 0; row < strip_.rows; ++row) {
      const std::int64_t line =
          ((strip_.sample * s_.depth.made + plane) * s_.height.made + strip_.row + row) * s_.width.made;
      for (std::int64_t tile = 0; tile < strip_.tiles; ++tile) {
        const std::int64_t voxel = (strip_.tile + tile) * filtered_voxels, rest = s_.width.made - voxel;
        float* const to = made_ + (row * strip_.tiles + tile) * unit_.lanes;
        for (std::int64_t lane = 0; lane < unit_.lanes; lane += A::lanes)
          transform_tile(dy_ + (line + voxel) * s_.outputs + lane, rest, unit_.outputs - lane, to + lane);
      }
    }
  }
  // `voxels` and `channels` exist; the others are zero.
  void transform_tile(const float* dy, std::int64_t voxels, std::int64_t channels, float* to) const {
    std::int64_t voxel = s_.outputs;
    alignas(64) float edge[filtered_voxels * A::lanes];
    if (voxels < filtered_voxels || channels < A::lanes) {
      for (std::int64_t v = 0; v < filtered_voxels; ++v)
        for (std::int64_t c = 0; c < A::lanes; ++c)
          edge[v * A::lanes + c] = v < voxels && c < channels ? dy[v * voxel + c] : 0.0F;
      dy = edge, voxel = A::lanes;
    }
    typename A::Sum read[filtered_voxels], made[frequencies];
#pragma GCC unroll 8
    for (int v = 0; v < filtered_voxels; ++v) read[v] = A::load(words(dy + v * voxel));
    transform_gradient<A>(read, made);
#pragma GCC unroll 8
    for (int f = 0; f < frequencies; ++f) A::store(to + f * tiles_ * unit_.lanes, made[f]);
  }

  const VolumeSizes& s_;
  const FilteredStrip& strip_;
  const WeightUnit& unit_;
  FilteredAhead ahead_;
  FilteredPlanes<A, PlanesAnywhere> x_;
  const float* const dy_;
  float *const sums_, *const made_;  // made: transformed dy, [frequencies][tiles][lanes]
  const std::int64_t tiles_;
};

// Applies A': divides the sums of frequencies and adds them to those of three taps.
inline void add_taps(const float* sums, std::int64_t frequency, float* to, std::int64_t tap) {
  constexpr double n = near_point, f = far_point;
  constexpr double of_near = 1 / (2 * n * n * (n * n - f * f)), of_far = 1 / (2 * f * f * (f * f - n * n));
  double all[frequencies];
  for (int i = 0; i < frequencies; ++i) all[i] = sums[i * frequency];
  const double even_near = (all[1] + all[2]) * of_near, odd_near = (all[1] - all[2]) * of_near,
               even_far = (all[3] + all[4]) * of_far, odd_far = (all[3] - all[4]) * of_far;
  to[0] += static_cast<float>(all[0] / (n * n * f * f) + even_near + even_far);
  to[tap] += static_cast<float>(n * odd_near + f * odd_far);
  to[2 * tap] += static_cast<float>(n * n * even_near + f * f * even_far + all[5]);
}

inline VolumeSizes volume_of(const Sizes& s) {
  VolumeSizes v;
  v.samples = s.samples, v.inputs = s.inputs, v.outputs = s.outputs;
  const Axis* const from[3] = {&s.depth, &s.height, &s.width};
  VolumeAxis* const to[3] = {&v.depth, &v.height, &v.width};
  for (int i = 0; i < 3; ++i)
    *to[i] = {from[i]->input, from[i]->output, from[i]->kernel, from[i]->stride, from[i]->before};
  return v;
}

// An AddWeightUnit for floats.
template <class A>
void add_filtered_unit(const Sizes& sizes, const Slab& slab, const WeightUnit& unit, const void* const* x,
                       const void* dy, float* to, std::uint32_t*) {
  const VolumeSizes volume = volume_of(sizes);
  const std::int64_t lines = sizes.depth.kernel * sizes.height.kernel, line = filtered_channels * unit.lanes;
  FilteredWeightScratch scratch;
  for (std::int64_t i = 0; i < frequencies * lines * line; ++i) scratch.sums[i] = 0.0F;
  const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  for (std::int64_t index = unit.from; index < unit.to; ++index) {
    const std::int64_t above = index / slab.across, beyond = above / slab.down,
                       first = index % slab.across * slab.width;
    const std::int64_t deep = (unit.planes + slab.planes - 1) / slab.planes,
                       first_plane = beyond % deep * slab.planes;
    FilteredStrip strip;
    strip.sample = beyond / deep;
    strip.plane = unit.first_plane + first_plane;
    strip.row = above % slab.down * slab.rows;
    strip.tile = first / filtered_voxels;
    strip.planes = least(slab.planes, unit.planes - first_plane);
    strip.rows = least(slab.rows, sizes.height.output - strip.row);
    strip.tiles = (least(slab.width, sizes.width.output - first) + filtered_voxels - 1) / filtered_voxels;
    FilteredWeights<A>(volume, strip, unit, x, static_cast<const float*>(dy), scratch).add();
  }
  const std::int64_t tap = unit.inputs * unit.lanes;
  for (std::int64_t i = 0; i < lines; ++i)
    for (std::int64_t at = 0; at < tap; ++at)
      add_taps(scratch.sums + i * line + at, lines * line, to + i * filter_taps * tap + at, tap);
}

}  // namespace
}  // namespace voxswap::net::convolution
