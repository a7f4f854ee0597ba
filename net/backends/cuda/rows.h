// Partition of a pass over N,D,H,W,C memory among threads.
//
// A sample is a list of vectors of `width` elements (16 bytes, or one element if a sample is not a multiple
// of that). After `row` vectors the channels repeat. So a thread that steps from row to row always has the
// same channels in the same lanes and keeps their parameters in registers. A block works on `groups` rows
// side by side and `phases` vectors of each. blockIdx.x counts chunks, blockIdx.y the parts of a row that is
// longer than a block, blockIdx.z samples.
//
// The partition depends only on the shape, so sums have the same order on every GPU.
#pragma once

#include <cstdint>

#include "base/shape.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

constexpr int block_threads = 256;  // at most

struct Rows {
  std::int64_t vectors = 0;  // per sample
  std::int64_t chunks = 1;   // blocks that share a sample's rows
  std::int64_t samples = 1;
  int width = 1;
  int channels = 1;
  int row = 1;  // vectors
  int phases = 1, groups = 1, parts = 1;
  int sharing = 1;  // consecutive samples with the same parameters

  constexpr int slots() const { return row * width; }  // elements of a row
  constexpr int threads() const { return phases * groups; }
};

// Rows per thread: enough to amortise a thread's setup, but few enough to have blocks for a large device and
// to keep f32 sums short. The end of a sum's block takes as long as dozens of rows, so fewer blocks do.
struct Division {
  std::int64_t most_rows;
  std::int64_t blocks;  // divides Device::enough_blocks
};
constexpr Division of_a_map = {16, 1}, of_a_sum = {64, 4};

// `full_width`: elements in 16 bytes. REQUIRES: no size is 0.
Rows cut_rows(const Device& device, std::int64_t samples, std::int64_t voxels, std::int64_t channels,
              int full_width, Division division);
Rows cut_rows(const Device& device, const Shape& shape, int full_width,
              Division division);  // of N,D,H,W,C
// The same with each plane treated as a sample. Planes of a sample share its parameters.
Rows cut_planes(const Device& device, const Shape& shape, int full_width, Division division);

// For elementwise passes: only whole vectors. The remaining count % full_width elements are left to the
// kernel.
Rows cut_flat(const Device& device, std::int64_t count, int full_width);

}  // namespace voxswap::net::cuda
