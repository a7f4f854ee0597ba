// Tiles of a volume in shared memory, for convolutions with few channels (narrow_convolution.cu): the
// addresses of a tile's voxels in device memory, possibly in several slabs, and in shared memory.
#pragma once

#include <cstdint>

#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

constexpr int tile_width = 16;  // a row of a tile is a matrix: 16 voxels of 16 channels

// Index of a half voxel or half row of 16 channels in shared memory, in units of 16 bytes; eight neighbours
// are in different banks.
__device__ inline int swizzled(int row, int half) {
  return 2 * row + (half ^ (row >> 2 & 1));
}
template <int channels>
__device__ int place_of(int voxel, int half) {
  return channels == 16 ? swizzled(voxel, half) : voxel;
}

struct Volumes {
  int planes, height, width;  // of the output or, for a sum, of the volume iterated over
  int before;                 // zero planes before the first plane read
};

// The volume to read: planes 0 to `planes`, in consecutive slabs. The first may begin before plane 0, and the
// last end after the last plane.
constexpr int most_slabs = 8;
struct Slabs {
  const Bytes16* at[most_slabs];
  int first[most_slabs + 1];  // first plane of each, and the end of the last
  int planes;
};

struct Tile {
  std::int64_t sample;
  int z, y, x;  // of its first voxel
};

// Tiles of `planes` planes.
template <int depth, int height>
struct Tiles {
  int along_y, along_x, along_z;
  std::int64_t count;

  Tiles(const Volumes& v, int planes, std::int64_t samples)
      : along_y((v.height + height - 1) / height),
        along_x((v.width + tile_width - 1) / tile_width),
        along_z((planes + depth - 1) / depth),
        count(samples * along_z * along_y * along_x) {}
  __device__ Tile at(std::int64_t index) const {
    const std::int64_t rows = index / along_x, planes = rows / along_y;
    return {planes / along_z, static_cast<int>(planes % along_z) * depth,
            static_cast<int>(rows % along_y) * height, static_cast<int>(index % along_x) * tile_width};
  }
};

// Copies voxels from `from` on, with zeros outside the volume and from plane `end` on.
template <int channels, int depth, int height, int width>
__device__ void copy_box(const Slabs& slabs, int end, const Volumes& v, const Tile& from, Bytes16* shared) {
  constexpr int halves = channels / 8;
  for (int i = static_cast<int>(threadIdx.x); i < depth * height * width * halves;
       i += static_cast<int>(blockDim.x)) {
    const int half = i % halves, voxel = i / halves;
    const int x = from.x + voxel % width, y = from.y + voxel / width % height,
              z = from.z + voxel / (width * height);
    Bytes16 content = {};
    if (z >= 0 && z < end && y >= 0 && y < v.height && x >= 0 && x < v.width) {
      int slab = 0;
      while (z >= slabs.first[slab + 1]) ++slab;
      const int first = slabs.first[slab], planes = slabs.first[slab + 1] - first;
      const std::int64_t row = (from.sample * planes + z - first) * v.height + y;
      content = slabs.at[slab][(row * v.width + x) * halves + half];
    }
    shared[place_of<channels>(voxel, half)] = content;
  }
}

}  // namespace voxswap::net::cuda
