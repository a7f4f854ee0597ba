// The transformed planes of x for a strip of a convolution by minimal filtering (sizes.h), kept
// while taps need them: [planes, as a ring][frequencies][blocks of channels][rows][tiles][channels of a
// block], zeros outside the volume. Included only by filtered_rows.h and filtered_weights.h. volume_tile.h
// describes the arithmetic.
#pragma once

#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_tile.h"

namespace voxswap::net::convolution {

namespace {

inline const std::uint32_t* words(const float* from) {
  return reinterpret_cast<const std::uint32_t*>(from);
}

// Applies B: the six voxels that a tile reads become frequencies.
template <class A>
inline __attribute__((always_inline)) void transform_voxels(const typename A::Sum (&x)[frequencies],
                                                            typename A::Sum (&to)[frequencies]) {
  using Sum = typename A::Sum;
  constexpr float n = near_point, f = far_point, n2 = n * n, f2 = f * f;
  const Sum zero = {};
  const Sum even_near = A::multiply_add(x[4], x[2], zero - f2),
            odd_near = A::multiply_add(x[3], x[1], zero - f2),
            even_far = A::multiply_add(x[4], x[2], zero - n2),
            odd_far = A::multiply_add(x[3], x[1], zero - n2);
  to[0] = A::multiply_add(A::multiply_add(x[4], x[2], zero - (n2 + f2)), x[0], zero + n2 * f2);
  to[1] = A::multiply_add(even_near, odd_near, zero + n);
  to[2] = A::multiply_add(even_near, odd_near, zero - n);
  to[3] = A::multiply_add(even_far, odd_far, zero + f);
  to[4] = A::multiply_add(even_far, odd_far, zero - f);
  to[5] = A::multiply_add(A::multiply_add(x[5], x[3], zero - (n2 + f2)), x[1], zero + n2 * f2);
}

// Addresses of a sample's planes: contiguous, or one pointer per plane.
struct PlanesInARow {
  const float* first;
  std::int64_t numbers;  // per plane
  const float* operator()(std::int64_t plane) const { return first + plane * numbers; }
};
struct PlanesAnywhere {
  const void* const* planes;
  std::int64_t channel;  // the first channel to read
  const float* operator()(std::int64_t plane) const {
    return static_cast<const float*>(planes[plane]) + channel;
  }
};

template <class A, class Source>
class FilteredPlanes {
 public:
  // For `channels` channels of x, of the strip's sample.
  FilteredPlanes(const VolumeSizes& sizes, const FilteredStrip& strip, std::int64_t channels, Source x,
                 float* to)
      : s_(sizes),
        strip_(strip),
        channels_(channels),
        lines_(strip.rows + sizes.height.kernel - 1),
        x_(x),
        to_(to) {}

  // Distance in numbers between rows, blocks of channels and frequencies.
  std::int64_t row() const { return strip_.tiles * filtered_channels; }
  std::int64_t block() const { return lines_ * row(); }
  std::int64_t frequency() const { return (channels_ + filtered_channels - 1) / filtered_channels * block(); }
  const float* plane(std::int64_t plane) const { return place(plane); }

  // Transforms the planes that earlier planes of the output did not read. REQUIRES: planes are made in order.
  void read(const Reads& reads) {
    for (std::int64_t i = 0; i < reads.count; ++i) {
      if (reads.from[i] < next_) continue;
      next_ = reads.from[i] + 1;
      transform_plane(reads.from[i]);
    }
  }
  // The planes that are still to be read: next() to end().
  std::int64_t next() const { return next_; }
  std::int64_t end() const {
    const std::int64_t end = strip_.plane + strip_.planes - 1 - s_.depth.before + s_.depth.kernel;
    return end < s_.depth.read ? end : s_.depth.read;
  }
  std::int64_t lines() const { return lines_; }
  // Address of a row that the strip reads in a plane; nullptr outside.
  const float* line(std::int64_t plane, std::int64_t line) const {
    const std::int64_t from = strip_.row - s_.height.before + line;
    if (from < 0 || from >= s_.height.read) return nullptr;
    return x_(plane) + from * s_.width.read * s_.inputs;
  }

 private:
  float* place(std::int64_t plane) const { return to_ + plane % s_.depth.kernel * frequencies * frequency(); }
  void transform_plane(std::int64_t plane) const {
    for (std::int64_t i = 0; i < lines_; ++i) {
      float* const to = place(plane) + i * row();
      const float* const x = line(plane, i);
      if (x == nullptr) {
        for (std::int64_t at = 0; at < frequencies * frequency(); at += block()) fill_zeros(to + at);
        continue;
      }
      for (std::int64_t first = 0; first < channels_; first += filtered_channels)
        transform_row(x + first, channels_ - first, to + first / filtered_channels * block());
    }
  }
  void fill_zeros(float* to) const {
    for (std::int64_t i = 0; i < row(); ++i) to[i] = 0.0F;
  }
  void transform_row(const float* x, std::int64_t channels, float* to) const {
    const std::int64_t further = frequency(), whole = filtered_channels;
    for (std::int64_t tile = 0; tile < strip_.tiles; ++tile, to += filtered_channels) {
      const std::int64_t first = (strip_.tile + tile) * filtered_voxels - s_.width.before;
      const std::int64_t last = s_.width.read - first;
      const float* const from = x + first * s_.inputs;
      if (channels < whole)
        transform_edge(from, first, channels, to, further);
      else if (first >= 0 && last >= frequencies)
        transform_tile(from, s_.inputs, 0, frequencies, to, further);
      else
        transform_tile(from, s_.inputs, first < 0 ? -first : 0, last, to, further);
    }
  }
  // Handles fewer channels than a block has.
  void transform_edge(const float* x, std::int64_t first, std::int64_t channels, float* to,
                      std::int64_t further) const {
    alignas(64) float edge[frequencies * filtered_channels] = {};
    for (std::int64_t i = 0; i < frequencies; ++i) {
      if (first + i < 0 || first + i >= s_.width.read) continue;
      for (std::int64_t c = 0; c < channels; ++c) edge[i * filtered_channels + c] = x[i * s_.inputs + c];
    }
    transform_tile(edge, filtered_channels, 0, frequencies, to, further);
  }
  // Only voxels begin <= i < end exist; the others are zero.
  static inline __attribute__((always_inline)) void transform_tile(const float* x, std::int64_t voxel,
                                                                   std::int64_t begin, std::int64_t end,
                                                                   float* to, std::int64_t further) {
#pragma GCC unroll 1
    for (std::int64_t c = 0; c < filtered_channels; c += A::lanes) {
      typename A::Sum voxels[frequencies], made[frequencies];
#pragma GCC unroll 8
      for (int i = 0; i < frequencies; ++i)
        voxels[i] = i >= begin && i < end ? A::load(words(x + i * voxel + c)) : typename A::Sum{};
      transform_voxels<A>(voxels, made);
#pragma GCC unroll 8
      for (int i = 0; i < frequencies; ++i) A::store(to + i * further + c, made[i]);
    }
  }

  const VolumeSizes& s_;
  const FilteredStrip& strip_;
  const std::int64_t channels_, lines_;
  const Source x_;
  float* const to_;
  std::int64_t next_ = 0;  // first plane that is not transformed yet
};

}  // namespace

// Software prefetch: while products of a strip (sizes.h) are computed, memory is idle. Each tile of
// products prefetches a part of a row that the strip reads or writes next.

namespace {

constexpr std::int64_t line_bytes = 64;  // cache line

// Cache lines to prefetch with each block of a tile of products.
struct Asked {
  const char* from = nullptr;
  std::int64_t lines = 0, step = line_bytes;  // bytes between them
};
inline __attribute__((always_inline)) void ask(Asked& asked) {
  for (std::int64_t line = 0; line < asked.lines; ++line, asked.from += asked.step)
    __builtin_prefetch(asked.from, 0, 2);
}

class FilteredAhead {
 public:
  FilteredAhead(const VolumeSizes& sizes, const FilteredStrip& strip) : s_(sizes), strip_(strip) {}

  void begin() { count_ = asked_ = 0; }
  // The strip's rows in a plane of an output-shaped volume, `channels` channels of each voxel.
  void add_made(const float* volume, std::int64_t plane, std::int64_t channels) {
    const std::int64_t rows = (strip_.sample * s_.depth.made + plane) * s_.height.made + strip_.row;
    for (std::int64_t row = rows; row < rows + strip_.rows; ++row)
      add(volume + row * s_.width.made * s_.outputs, s_.outputs, channels);
  }
  // The rows that the strip reads in a plane of x.
  template <class Planes>
  void add_read(const Planes& x, std::int64_t plane, std::int64_t channels) {
    for (std::int64_t line = 0; line < x.lines(); ++line)
      if (const float* const row = x.line(plane, line)) add(row, s_.inputs, channels);
  }
  // Spreads the prefetches over `calls` tiles of products.
  void divide(std::int64_t calls) { parts_ = count_ == 0 || calls < count_ ? 1 : calls / count_; }

  Asked next(std::int64_t blocks) {
    const std::int64_t row = asked_ / parts_, part = asked_ % parts_;
    ++asked_;
    if (row >= count_ || blocks == 0) return {};
    const std::int64_t lines = (rows_[row].lines + parts_ - 1) / parts_;
    return {rows_[row].from + part * lines * rows_[row].step, (lines + blocks - 1) / blocks, rows_[row].step};
  }

 private:
  static constexpr std::int64_t most_rows = 64;
  struct Row {
    const char* from;
    std::int64_t lines, step;
  };
  // A row of voxels. If only some channels are needed, one cache line per voxel.
  void add(const float* row, std::int64_t voxel, std::int64_t channels) {
    if (count_ == most_rows) return;
    const std::int64_t voxels = strip_.tiles * filtered_voxels;
    const char* const from = reinterpret_cast<const char*>(row + strip_.tile * filtered_voxels * voxel);
    if (channels < voxel)
      rows_[count_++] = {from, voxels, 4 * voxel};
    else
      rows_[count_++] = {from, 4 * voxels * voxel / line_bytes, line_bytes};
  }

  const VolumeSizes& s_;
  const FilteredStrip& strip_;
  Row rows_[most_rows];
  std::int64_t count_ = 0, asked_ = 0, parts_ = 1;
};

}  // namespace

}  // namespace voxswap::net::convolution
