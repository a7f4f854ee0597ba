// How a pass over N,D,H,W,C memory is cut among threads.
//
// A sample is a list of vectors of `width` elements (16 bytes of them, or one element where a sample is not a
// multiple of that). After `row` vectors the channels begin anew, so a thread that goes from row to row meets
// the same channels in the same lanes all the time and keeps their parameters in registers. A block works
// on `groups` rows side by side and `phases` vectors of each; blockIdx.x counts chunks, blockIdx.y the parts
// of a row that is longer than a block, blockIdx.z samples.
//
// The cut depends on the shape alone, so sums are taken in the same order on every GPU.
#pragma once

#include <cstdint>

#include "base/shape.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

constexpr int block_threads = 256;  // at most

struct Rows {
  std::int64_t vectors = 0;  // of a sample
  std::int64_t chunks = 1;   // blocks that share a sample's rows
  std::int64_t samples = 1;
  int width = 1;
  int channels = 1;
  int row = 1;  // vectors
  int phases = 1, groups = 1, parts = 1;
  int sharing = 1;  // consecutive samples that have the same parameters

  constexpr int slots() const { return row * width; }  // elements of a row
  constexpr int threads() const { return phases * groups; }
};

// How many rows a thread goes down: so many that what it does before and after them costs little, but not so
// many that there are too few blocks to keep a large device busy, or that a sum in f32 grows too long.
constexpr std::int64_t rows_of_a_map = 16, rows_of_a_sum = 64;

// `full_width` is what 16 bytes hold. REQUIRES: none of the sizes is 0.
Rows cut_rows(const Device& device, std::int64_t samples, std::int64_t voxels, std::int64_t channels,
              int full_width, std::int64_t most_rows);
Rows cut_rows(const Device& device, const Shape& shape, int full_width,
              std::int64_t most_rows);  // of N,D,H,W,C
// The same with every plane for a sample; those of a sample share its parameters.
Rows cut_planes(const Device& device, const Shape& shape, int full_width, std::int64_t most_rows);

// Where channels do not matter: whole vectors only. The elements after the last are count % full_width.
Rows cut_flat(const Device& device, std::int64_t count, int full_width);

}  // namespace voxswap::net::cuda
