// Augmentation: how a training case looks in one epoch. It depends on seed, epoch and case only, so order and
// thread count change nothing.
//
// The set is the one that nnU-Net trains with (Isensee et al., Nature Methods 2021, supplementary note 4),
// beside the symmetries, flips and scaling of the study. Rotation, scaling and elastic deformation are one
// map that is read in one pass (spatial_map.h). Intensities change per channel (intensity.h), in units of
// normalised images, in the order of IntensityChange.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/augment/intensity.h"
#include "data/augment/spatial_map.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// An amount drawn uniformly from [low, high] with a probability; else there is none of it.
struct Draw {
  double low = 0, high = 0, probability = 0;
  bool operator==(const Draw&) const = default;
};

// The part `training.augment` of an experiment. Spatial draws are made per sample, the others per channel.
struct AugmentOptions {
  std::string preset = "none";          // what the rest was before single keys were read
  bool symmetries = true;               // one of the 48 symmetries of the cube that keep the box in shape
  std::array<double, 3> flip{0, 0, 0};  // else: probability of a flip along x, y, z
  Draw rotation;                        // degrees about each axis
  double scale = 0;                     // deviation of a factor per axis, N(1, scale) within [1/2, 2]
  Draw zoom;                            // one factor for all axes; above 1 is larger
  Draw elastic;                         // mm, deviation of the displacement; at most a sixth of the grid
  double elastic_grid = 32;             // mm between its control points
  Draw noise;                           // deviation of added normal noise
  Draw blur;                            // voxels, sigma of a Gaussian
  double intensity = 0;                 // deviation of a factor N(1, …) and of a shift N(0, …)
  Draw brightness;                      // factor
  Draw contrast;                        // factor of the distance from the mean, within the old extremes
  Draw low_resolution;                  // sides of the coarser grid, as a part of the training grid's
  Draw inverted_gamma, gamma;           // exponents over the image's own range; mean and deviation stay
  double channel_dropout = 0;           // probability that a channel is left out, never all of them
  bool operator==(const AugmentOptions&) const = default;
};

// The axes x, y, z along which training sees samples mirrored: where a network may be shown a mirrored
// volume.
std::array<bool, 3> mirrored_axes(const AugmentOptions& options);

// What nnU-Net trains with, but for its elastic deformation, which its 3D trainers leave out too.
AugmentOptions nnunet_augmentation();

// A case as the network reads it.
struct Example {
  Size3 size{0, 0, 0};
  std::array<double, 3> spacing{1, 1, 1};  // mm
  std::int64_t channels = 0;
  std::vector<float> image;         // D,H,W,C
  std::vector<std::int16_t> truth;  // D,H,W, label values; may be empty
};

// Whose randomness it is.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;  // below 2^32
  std::uint32_t case_index = 0;
};

struct Augmentation {
  AugmentKey key;  // of the noise's voxels and the elastic control points
  SpatialChange space;
  std::vector<IntensityChange> channels;  // may be fewer than the image has: the others stay as they are
  std::vector<bool> dropped{};            // likewise: channels that become 0
};

Augmentation draw_augmentation(const AugmentOptions& options, const AugmentKey& key, const Size3& size,
                               std::int64_t channels);

// Carries it out in place. Nothing drawn leaves every bit as it was. Labels are interpolated as indicators of
// each label and the largest wins, so there are never new ones; beyond the edge lies what lies on the edge.
// REQUIRES: a symmetry that keeps the box in shape.
void apply(const Augmentation& augmentation, Example& example);

std::string describe(const Augmentation& augmentation);  // "rotated 12 -3 0, gamma 0.8"; "as it is"

}  // namespace voxswap::data
