// Around a library's convolution: conversion of weights to the library's layout and type, conversion or
// summation of their gradient, and the bias. Channel sums are in plane_sums.cu.
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/cuda/weights.h"

namespace voxswap::net::cuda {

namespace {

// The index in [outputs][inputs][taps] of element `i` of [outputs][taps][inputs].
__device__ inline std::int64_t place_in_oidhw(std::int64_t i, const WeightShape& shape) {
  const std::int64_t in = i % shape.inputs, tap = i / shape.inputs % shape.taps,
                     out = i / shape.inputs / shape.taps;
  return (out * shape.inputs + in) * shape.taps + tap;
}

template <class T>
__global__ void pack(const float* from, T* to, WeightShape shape) {
  const std::int64_t i = index_of_thread();
  if (i < shape.outputs * shape.inputs * shape.taps) set_rounded(to[i], from[place_in_oidhw(i, shape)]);
}

template <class T>
__global__ void unpack(const T* from, float* to, WeightShape shape) {
  const std::int64_t i = index_of_thread();
  if (i < shape.outputs * shape.inputs * shape.taps) to[place_in_oidhw(i, shape)] = to_float(from[i]);
}

template <int width, class T>
__global__ void add_to_channels(Rows rows, T* y, const float* bias) {
  float added[width];
  for (int lane = 0; lane < width; ++lane) added[lane] = bias[channel_of_lane<width>(rows, lane)];
  go_down<4>(
      walk_of_thread(rows), [&](std::int64_t vector) { return load<width>(y, vector); },
      [&](std::int64_t vector, Vector<T, width>& loaded) {
        for (int lane = 0; lane < width; ++lane)
          set_rounded(loaded.lane[lane], to_float(loaded.lane[lane]) + added[lane]);
        store(y, vector, loaded);
      });
}

// A block has several groups of a warp's width of neighbouring elements; the groups divide the parts among
// them.
constexpr int elements_at_once = 32, part_groups = block_threads / elements_at_once;

__global__ void add_up(const float* from, std::int64_t parts, std::int64_t count, float* to) {
  __shared__ double shared[part_groups][elements_at_once];
  const int lane = static_cast<int>(threadIdx.x) % elements_at_once,
            group = static_cast<int>(threadIdx.x) / elements_at_once;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * elements_at_once + lane;
  from += blockIdx.y * parts * count;
  to += blockIdx.y * count;
  double sum = 0;
  for (std::int64_t part = group; part < parts && i < count; part += part_groups)
    sum += from[part * count + i];
  shared[group][lane] = sum;
  __syncthreads();
  if (group != 0 || i >= count) return;
  for (int other = 1; other < part_groups; ++other) sum += shared[other][lane];
  to[i] = static_cast<float>(sum);
}

}  // namespace

void pack_weights(const float* from, void* to, ElementType type, const WeightShape& shape) {
  for_type(type, "weights of a convolution", [&]<class T>(T) {
    launch("pack_weights", pack<T>, blocks_for(shape.count()), block_threads, from, static_cast<T*>(to),
           shape);
  });
}

void unpack_weights(const void* from, ElementType type, float* to, const WeightShape& shape) {
  for_type(type, "weights of a convolution", [&]<class T>(T) {
    launch("unpack_weights", unpack<T>, blocks_for(shape.count()), block_threads, static_cast<const T*>(from),
           to, shape);
  });
}

void add_parts(const float* from, std::int64_t parts, std::int64_t count, float* to, std::int64_t sums) {
  const dim3 blocks(static_cast<unsigned>((count + elements_at_once - 1) / elements_at_once),
                    static_cast<unsigned>(sums));
  launch("add_parts", add_up, blocks, block_threads, from, parts, count, to);
}

void add_bias(void* y, const float* bias, ElementType type, std::int64_t voxels, std::int64_t channels,
              const Device& device) {
  for_type(type, "a convolution's bias", [&]<class T>(T) {
    const Rows rows = cut_rows(device, 1, voxels, channels, full_width<T>, of_a_map);
    for_width<T>(rows, [&]<int width>() {
      launch("add_bias", add_to_channels<width, T>, blocks_of(rows), rows.threads(), rows, static_cast<T*>(y),
             bias);
    });
  });
}

}  // namespace voxswap::net::cuda
