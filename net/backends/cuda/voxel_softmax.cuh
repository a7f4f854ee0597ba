// Soft-max of one voxel's logits, by one thread.
#pragma once

#include <cstdint>

#include "net/backends/cuda/elements.cuh"

namespace voxswap::net::cuda {

// For the probabilities of a voxel: exp(x_c - largest) / sum.
struct VoxelSoftmax {
  float largest, sum;
};
template <class T>
__device__ VoxelSoftmax look_at(const T* x, std::int64_t channels) {
  float largest = to_float(x[0]), sum = 0;
  for (std::int64_t c = 1; c < channels; ++c) largest = fmaxf(largest, to_float(x[c]));
  for (std::int64_t c = 0; c < channels; ++c) sum += expf(to_float(x[c]) - largest);
  return {largest, sum};
}
template <class T>
__device__ float probability(const VoxelSoftmax& voxel, const T* x) {
  return expf(to_float(*x) - voxel.largest) / voxel.sum;
}

}  // namespace voxswap::net::cuda
