// Soft-max of one voxel's logits, in few passes over them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/backends/onednn/exponential.h"
#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

// For the probabilities of a voxel: exp(x_c - largest) / sum.
struct VoxelSoftmax {
  float largest, sum;
};
template <class T>
VOXSWAP_INLINE VoxelSoftmax look_at(const T* x, std::int64_t channels) {
  float largest = load<float>(x), sum = 0;
  for (std::int64_t c = 1; c < channels; ++c) {
    const float value = load<float>(x + c);
    largest = value > largest ? value : largest;
  }
  for (std::int64_t c = 0; c < channels; ++c) sum += exp_of_negative<float>(load<float>(x + c) - largest);
  return {largest, sum};
}
template <class T>
VOXSWAP_INLINE float probability(const VoxelSoftmax& voxel, const T* x) {
  return exp_of_negative<float>(load<float>(x) - voxel.largest) / voxel.sum;
}

// Voxels per block, the unit of work: some thousand exponentials.
inline std::int64_t block_of(std::int64_t channels) {
  return std::max<std::int64_t>(1, 8192 / channels);
}

}  // namespace voxswap::net::onednn
