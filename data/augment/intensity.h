// Intensity augmentation of one channel, in units of a normalised image.
#pragma once

#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Nothing is changed by the defaults. Carried out in this order, which is nnU-Net's.
struct IntensityChange {
  double noise = 0;                  // deviation of normal noise that is added
  double blur = 0;                   // sigma of a Gaussian, voxels
  double brightness = 1, shift = 0;  // value * brightness + shift
  double contrast = 1;               // mean + (value - mean) * contrast, held to the old extremes
  double low_resolution = 1;         // to a grid with sides this part of the image's and back, both linear
  double inverted_gamma = 1;         // gamma of the negative
  double gamma =
      1;  // ((value - min) / (max - min))^gamma over the old range, then the old mean and deviation
};

// Channel `channel` of a D,H,W,C array. `voxels` is the noise's stream. A step that is not asked for is not
// run, so the defaults leave every bit as it was.
void change_intensities(const IntensityChange& change, const Philox& voxels, std::vector<float>& image,
                        const Size3& size, std::int64_t channels, std::int64_t channel);

// Standard normal numbers, the same for the same stream and place: value + deviation * normal.
void add_noise(std::vector<float>& values, const Philox& random, float deviation);

}  // namespace voxswap::data
