// A thread's iteration over the rows of a volume (rows.h), and sums over the rows.
#pragma once

#include "net/backends/cuda/launch.cuh"
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

// The channel of a lane, the same for all vectors of the walk.
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

// Sums over the voxels of each sample and channel, in two launches: each block writes the sum of its threads,
// then a second kernel adds up the blocks. A thread's own sums are f32; everything after is double, in an
// order that depends only on the shape, without atomics. So results are deterministic.

// Partial sums of the blocks: [samples][chunks][kinds][slots] doubles.
inline std::int64_t sums_bytes(const Rows& rows, int kinds) {
  return rows.samples * rows.chunks * kinds * rows.slots() * static_cast<std::int64_t>(sizeof(double));
}

// Adds sums[kind][lane] over the groups of the block. All threads of the block must call it.
template <int width, int kinds>
__device__ void write_sums_of_block(const Rows& rows, const double (&sums)[kinds][width], double* written) {
  __shared__ double shared[width][block_threads];
  const int thread = static_cast<int>(threadIdx.x), phase = phase_of_thread(rows);
  const int group = group_of_thread(rows);
  double* own =
      written + (static_cast<std::int64_t>(blockIdx.z) * gridDim.x + blockIdx.x) * kinds * rows.slots();
  for (int kind = 0; kind < kinds; ++kind) {
    for (int lane = 0; lane < width; ++lane) shared[lane][thread] = sums[kind][lane];
    __syncthreads();
    for (int left = rows.groups; left > 1;) {
      const int half = (left + 1) / 2;
      if (group + half < left) {
        for (int lane = 0; lane < width; ++lane)
          shared[lane][thread] += shared[lane][thread + half * rows.phases];
      }
      left = half;
      __syncthreads();
    }
    if (group == 0 && phase < rows.row) {
      for (int lane = 0; lane < width; ++lane)
        own[kind * rows.slots() + phase * width + lane] = shared[lane][thread];
    }
    __syncthreads();
  }
}

// The sum of every channel.
template <int width, class T>
__global__ void channel_sums_of_blocks(Rows rows, const T* x, double* written) {
  x += sample_start(rows) * width;
  float sums[width] = {};
  go_down<4>(
      walk_of_thread(rows), [&](std::int64_t vector) { return load<width>(x, vector); },
      [&](std::int64_t, const Vector<T, width>& loaded) {
        for (int lane = 0; lane < width; ++lane) sums[lane] += to_float(loaded.lane[lane]);
      });
  double doubles[1][width];
  for (int lane = 0; lane < width; ++lane) doubles[0][lane] = sums[lane];
  write_sums_of_block<width, 1>(rows, doubles, written);
}

constexpr int finishing_threads = 128;

// One block per channel (blockIdx.x) and sample (blockIdx.y). take(sample, channel, sums) is called once for
// each.
template <int kinds, class Take>
__global__ void finish_sums(const double* written, std::int64_t chunks, int slots, int channels, Take take) {
  __shared__ double shared[kinds][finishing_threads];
  const int thread = static_cast<int>(threadIdx.x), channel = static_cast<int>(blockIdx.x);
  const int repeats = slots / channels;  // a row may contain a channel several times
  const double* own = written + blockIdx.y * chunks * kinds * slots + channel;
  double sums[kinds] = {};
  for (std::int64_t i = thread; i < chunks * repeats; i += finishing_threads) {
    const double* row = own + i / repeats * kinds * slots + i % repeats * channels;
    for (int kind = 0; kind < kinds; ++kind) sums[kind] += row[kind * slots];
  }
  for (int kind = 0; kind < kinds; ++kind) shared[kind][thread] = sums[kind];
  __syncthreads();
  for (int half = finishing_threads / 2; half > 0; half /= 2) {
    if (thread < half) {
      for (int kind = 0; kind < kinds; ++kind) shared[kind][thread] += shared[kind][thread + half];
    }
    __syncthreads();
  }
  if (thread != 0) return;
  for (int kind = 0; kind < kinds; ++kind) sums[kind] = shared[kind][0];
  take(static_cast<std::int64_t>(blockIdx.y), channel, sums);
}

template <int kinds, class Take>
void launch_finish(std::string_view name, const Rows& rows, const double* written, Take take) {
  launch(name, finish_sums<kinds, Take>,
         dim3(static_cast<unsigned>(rows.channels), static_cast<unsigned>(rows.samples)), finishing_threads,
         written, rows.chunks, rows.slots(), rows.channels, take);
}

// A pass that writes the sums of blocks, and a second one that passes them to `take(arguments)`.
template <class T, int kinds, class First, class Take>
std::unique_ptr<Kernel> make_sums(const std::string& name, const Rows& rows, First first, Take take) {
  const std::string finish = name + ", finish";
  return make_own(
      rows,
      [=](const KernelArguments& arguments) {
        double* written = place<double>(arguments, 0);
        for_width<T>(rows, [&]<int width>() { first.template run<width>(name, rows, arguments, written); });
        launch_finish<kinds>(finish, rows, written, take(arguments));
      },
      sums_bytes(rows, kinds));
}

}  // namespace voxswap::net::cuda
