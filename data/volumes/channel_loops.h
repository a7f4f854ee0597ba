// Loops over D,H,W,C arrays of float: sums of planes, and the largest channel of a voxel.
//
// Sums run on all cores where they are large. Each element is computed by itself, so results do not depend on
// the number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/voxel_grid.h"

namespace voxswap::data {

// Elements for which another thread is worth its start.
constexpr std::size_t elements_per_thread = std::size_t{1} << 18;

void add(std::span<const float> values, std::span<float> sum);
void divide(std::span<float> values, float divisor);

// Adds planes of a volume of `size` that is mirrored along the `flipped` axes to a sum that is not. `first`:
// index of the first plane in the mirrored volume.
void add_mirrored(std::span<const float> planes, std::int64_t first, const Size3& size, std::int64_t channels,
                  const std::array<bool, 3>& flipped, std::span<float> sum);

// Adds a row W,C, of which voxel x is multiplied by weights[x] * factor.
void add_weighted(std::span<const float> row, std::span<const float> weights, float factor, float* sum);

// The same with sums rounded to float16.
void add_weighted_in_half(std::span<const float> row, std::span<const float> weights, float* sum);
void round_to_half(std::span<float> values);

// Index of the first channel with the largest value above `lowest`, and that value; NaN counts as small.
// Without one, `value` is `lowest`.
struct Largest {
  std::size_t channel = 0;
  float value = 0;
};
Largest largest_channel(std::span<const float> voxel, float lowest);

}  // namespace voxswap::data
