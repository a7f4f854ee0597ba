// Sizes of a convolution and of a unit of work, as the sources of all instruction sets see them. Plain data:
// code compiled for one instruction set must not be linked into another, so these have no inline functions.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

struct Axis {
  std::int64_t input = 1, output = 1;  // sides of the input and of the output volume
  std::int64_t kernel = 1, stride = 1, before = 0, dilation = 1;
};

struct Sizes {
  std::int64_t samples = 1, inputs = 1, outputs = 1;  // channels of x and of y
  Axis depth, height, width;
};

// A slab of dy: a range of planes, rows and voxels. What it reads of a plane of x is packed.
struct Slab {
  std::int64_t planes = 1, rows = 1, width = 1;
  std::int64_t down = 1, across = 1;  // slabs of a plane
  bool together = false;              // all planes of x that it reads are packed at once
};

// Slabs from <= slab < to of some planes of all samples, for some channels. Sums are [taps][inputs][lanes].
struct WeightUnit {
  std::int64_t first_plane = 0, planes = 1;
  std::int64_t from = 0, to = 0;
  std::int64_t first_input = 0, inputs = 1;
  std::int64_t first_output = 0, outputs = 1, lanes = 16;
};

constexpr std::int64_t packed_words = 12 << 10;  // that one slab of x may take for a block of channels
constexpr std::int64_t packed_channels = 16;     // of such a block, at most

// Adds the products of x and dy over the unit's slabs to its sums. x: address of each plane of each sample.
// `packed`: buffer of packed_words.
using AddWeightUnit = void (*)(const Sizes&, const Slab&, const WeightUnit&, const void* const* x,
                               const void* dy, float* sums, std::uint32_t* packed);

}  // namespace voxswap::net::convolution
