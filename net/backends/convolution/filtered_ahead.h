// Software prefetch: while products of a strip (filtered_sizes.h) are computed, memory is idle. Each tile of
// products prefetches a part of a row that the strip reads or writes next. Included only by filtered_rows.h
// and filtered_weights.h.
#pragma once

#include "net/backends/convolution/filtered_sizes.h"

namespace voxswap::net::convolution {
namespace {

constexpr std::int64_t line_bytes = 64;  // cache line

// Cache lines to prefetch with each block of a tile of products.
struct Asked {
  const char* from = nullptr;
  std::int64_t lines = 0, step = line_bytes;  // bytes from one to the next
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
  // Spreads the prefetches over so many tiles of products.
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
