// A volume and one with half its sides, block by block: upsampling and max pooling by 2. A thread handles one
// vector of channels of a coarse voxel and its eight fine voxels.
#pragma once

#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

// Both volumes in units of vectors, `columns` per voxel.
template <class Index>
struct Blocks {
  Index units;  // of the coarse volume
  Index height, width, columns;

  // Index of the first fine unit of a coarse one; the others are row() and plane() away.
  __device__ std::int64_t first_below(Index unit) const {
    const std::int64_t column = take_axis(unit, columns), x = take_axis(unit, width),
                       y = take_axis(unit, height);
    const std::int64_t z = static_cast<std::int64_t>(unit);  // numbered over all samples
    return 2 * z * plane() + 2 * y * row() + 2 * x * static_cast<std::int64_t>(columns) + column;
  }
  __device__ std::int64_t row() const {
    return 2 * static_cast<std::int64_t>(width) * static_cast<std::int64_t>(columns);
  }
  __device__ std::int64_t plane() const { return 2 * static_cast<std::int64_t>(height) * row(); }
  // In scan order: corner 4 dz + 2 dy + dx.
  __device__ std::int64_t corner(int i) const {
    return (i >> 2) * plane() + (i >> 1 & 1) * row() + (i & 1) * static_cast<std::int64_t>(columns);
  }
};

template <int width, class T>
struct Corners {
  Vector<T, width> corner[8];

  template <class Index>
  __device__ Corners(const Blocks<Index>& blocks, const T* fine, std::int64_t first) {
#pragma unroll
    for (int i = 0; i < 8; ++i) corner[i] = load<width>(fine, first + blocks.corner(i));
  }
};

// For the coarse shape N,d,h,w,C in vectors of `size` channels.
template <class Index>
Blocks<Index> blocks_below(const Shape& coarse, std::int64_t size) {
  const auto index = [](std::int64_t value) { return static_cast<Index>(value); };
  return {index(coarse.count() / size), index(coarse[2]), index(coarse[3]), index(coarse[4] / size)};
}

// A kernel that calls start.operator()<width, T, Index>(blocks, arguments, number of vectors).
template <class Start>
std::unique_ptr<Kernel> make_for_blocks(const Shape& coarse, const Node& node, ElementType type,
                                        Start start) {
  const auto geometry = [=]<class Index>(Index, Index columns) {
    return blocks_below<Index>(coarse, coarse[4] / static_cast<std::int64_t>(columns));
  };
  return make_for_voxels(coarse, node, type, geometry, start);
}

}  // namespace voxswap::net::cuda
