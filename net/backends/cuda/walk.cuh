// A thread's iteration over the rows of a volume (rows.h), on the device.
#pragma once

#include "net/backends/cuda/elements.cuh"
#include "net/backends/cuda/rows.h"

namespace voxswap::net::cuda {

// The vectors of a sample that a thread works on: first, first + step, … below end.
struct Walk {
  std::int64_t first, step, end;
};

__device__ inline int phase_of_thread(const Rows& rows) {
  return static_cast<int>(blockIdx.y) * rows.phases + static_cast<int>(threadIdx.x) % rows.phases;
}
__device__ inline int group_of_thread(const Rows& rows) {
  return static_cast<int>(threadIdx.x) / rows.phases;
}

__device__ inline Walk walk_of_thread(const Rows& rows) {
  const int phase = phase_of_thread(rows);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * rows.groups + group_of_thread(rows);
  return {row * rows.row + phase, static_cast<std::int64_t>(gridDim.x) * rows.groups * rows.row,
          phase < rows.row ? rows.vectors : 0};
}

// The channel of a lane, the same in all vectors of the walk.
template <int width>
__device__ int channel_of_lane(const Rows& rows, int lane) {
  return (phase_of_thread(rows) * width + lane) % rows.channels;
}

// Vectors before the sample's first one.
__device__ inline std::int64_t sample_start(const Rows& rows) {
  return static_cast<std::int64_t>(blockIdx.z) * rows.vectors;
}

// Calls use(vector, load(vector)) along the walk. Several loads are issued before the first use. The compiler
// cannot do that, because stores might alias loads.
template <int ahead, class Load, class Use>
__device__ void go_down(const Walk& walk, Load load, Use use) {
  for (std::int64_t vector = walk.first; vector < walk.end; vector += ahead * walk.step) {
    decltype(load(vector)) loaded[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (vector + i * walk.step < walk.end) loaded[i] = load(vector + i * walk.step);
    }
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (vector + i * walk.step < walk.end) use(vector + i * walk.step, loaded[i]);
    }
  }
}

}  // namespace voxswap::net::cuda
