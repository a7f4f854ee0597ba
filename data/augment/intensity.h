// Intensity augmentation of one channel, in units of a normalised image.
#pragma once

#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The defaults change nothing. Applied in the order of the members, which is nnU-Net's.
struct IntensityChange {
  double noise = 0;                  // standard deviation of additive Gaussian noise
  double blur = 0;                   // sigma of a Gaussian, voxels
  double brightness = 1, shift = 0;  // value * brightness + shift
  double contrast = 1;               // mean + (value - mean) * contrast, clamped to the old range
  double low_resolution = 1;         // downsampling to sides of this relative size and back, both linear
  double inverted_gamma = 1;         // gamma applied to the negated image
  double gamma =
      1;  // ((value - min) / (max - min))^gamma over the old range, then the old mean and deviation
};

// Changes channel `channel` of a D,H,W,C array. `voxels` is the random stream of the noise. Steps with
// default values are skipped, so the defaults leave every bit unchanged.
void change_intensities(const IntensityChange& change, const Philox& voxels, std::vector<float>& image,
                        const Size3& size, std::int64_t channels, std::int64_t channel);

// Adds deviation * normal to each value; the numbers depend only on the stream and the voxel's index.
void add_noise(std::vector<float>& values, const Philox& random, float deviation);

}  // namespace voxswap::data
