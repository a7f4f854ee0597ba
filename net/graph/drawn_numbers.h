// The numbers drawn for a sample, as the operations of augmentation read them (net/ops/spatial_map.cpp,
// net/ops/intensities.cpp). Two samples differ only in these and in their voxels, so one graph makes them
// all.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace voxswap::net::drawn {

// f64 [space_numbers]: voxel x, y, z of the result reads the position
//   start + clamped(offset + index (x, y, z) + along (displacement in mm))
// of a case, in voxels. It is clamped to a box of the result's sides, which begins at `start`, so that
// nothing outside the box is read. The displacement is a cubic B-spline with `controls` control points along
// x, y, z, `grid_step` of which lie between two voxels. Without controls it is 0.
enum Space : int {
  sides,               // of the case: x, y, z
  memory = sides + 3,  // number of the case's first voxel in the memory that holds it
  start,               // x, y, z
  offset = start + 3,  // x, y, z
  index = offset + 3,  // 3 x 3, row by row
  along = index + 9,   // 3 x 3, row by row
  grid_step = along + 9,
  controls = grid_step + 3,
  space_numbers = controls + 3
};

// A box of a case: the first voxel, and the steps to the next voxel along x, y, z.
struct Box {
  std::int64_t first, step[3];
};
constexpr Box box_of(const double* space) {
  const auto number = [space](int at) { return static_cast<std::int64_t>(space[at]); };
  const std::int64_t line = number(sides), plane = line * number(sides + 1);
  return {number(memory) + number(start) + number(start + 1) * line + number(start + 2) * plane,
          {1, line, plane}};
}

// f64 [channels, channel_numbers]. In brackets: the value that changes nothing.
enum Channel : int {
  kept,                  // 0: the channel is set to 0 [1]
  noise,                 // standard deviation of additive Gaussian noise [0]
  noise_key,             // five numbers of its random stream: low and high word of seed and stream, substream
  blur = noise_key + 5,  // sigma of a Gaussian in voxels, at most most_blur [0]
  brightness,            // factor [1]
  shift,                 // added after it [0]
  contrast,              // factor of the distance from the mean, clamped to the old range [1]
  low_resolution,        // relative size of the coarser grid's sides, at most 1 [1]
  inverted_gamma,        // exponent on the negated image's own range [1]
  gamma,                 // exponent on the image's own range [1]
  channel_numbers
};

// The random stream of a channel's noise.
constexpr Philox noise_of(const double* channel) {
  const auto word = [channel](int i) { return static_cast<std::uint64_t>(channel[noise_key + i]); };
  return {word(0) | word(1) << 32, word(2) | word(3) << 32, static_cast<std::uint32_t>(word(4))};
}
constexpr void set_noise(double* channel, const Philox& stream) {
  const Philox::Key key = stream.key();
  const std::uint32_t words[5] = {key.key[0], key.key[1], key.counter[2], key.counter[3], key.counter[1]};
  for (int i = 0; i < 5; ++i) channel[noise_key + i] = words[i];
}

constexpr double most_blur = 20;  // the largest sigma

// Taps on each side of the central one, for a Gaussian of this sigma, as in SciPy's gaussian_filter.
constexpr std::int64_t blur_radius(double sigma) {
  return static_cast<std::int64_t>(4 * sigma + 0.5);
}

// The sides of the coarser grid: at least one voxel.
constexpr std::int64_t coarse_side(std::int64_t side, double part) {
  const auto coarse = static_cast<std::int64_t>(static_cast<double>(side) * part + 0.5);
  return coarse < 1 ? 1 : coarse > side ? side : coarse;
}

}  // namespace voxswap::net::drawn
