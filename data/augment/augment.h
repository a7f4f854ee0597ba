// Augmentation: random changes of a training case. They depend only on seed, epoch and case, so neither order
// nor thread count affects them.
//
// The set is that of nnU-Net (Isensee et al., Nature Methods 2021, supplementary note 4), plus the
// symmetries, flips and scaling of the published study. Rotation, scaling and elastic deformation are
// composed into one map (spatial_map.h). Intensities change per channel, in units of the normalised image and
// in the order of IntensityChange. This folder draws; operations of net/ops/ change the voxels
// (pipeline/cases/sample_graph.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/augment/spatial_map.h"
#include "data/volumes/prepared_case.h"

namespace voxswap::data {

// Uniform in [low, high] with this probability; otherwise the neutral value.
struct Draw {
  double low = 0, high = 0, probability = 0;
  bool operator==(const Draw&) const = default;
};

// The part `training.augment` of an experiment. Spatial draws are made per sample, the others per channel.
struct AugmentOptions {
  std::string preset = "none";          // the preset that the other values started from
  bool symmetries = true;               // a random one of the cube's 48 symmetries that preserve the box size
  std::array<double, 3> flip{0, 0, 0};  // without symmetries: probability of a flip along x, y, z
  Draw rotation;                        // degrees about each axis
  double scale = 0;            // standard deviation of a factor per axis, N(1, scale) clamped to [1/2, 2]
  Draw zoom;                   // one factor for all axes; above 1 enlarges
  Draw elastic;                // mm, standard deviation of the displacement; at most a sixth of the grid
  double elastic_grid = 32;    // mm between control points
  Draw noise;                  // standard deviation of additive Gaussian noise
  Draw blur;                   // voxels, sigma of a Gaussian
  double intensity = 0;        // standard deviation of a factor N(1, …) and of a shift N(0, …)
  Draw brightness;             // factor
  Draw contrast;               // factor of the distance from the mean, clamped to the old range
  Draw low_resolution;         // relative size of the coarser grid's sides
  Draw inverted_gamma, gamma;  // exponents on the image's own range; mean and deviation are preserved
  double channel_dropout = 0;  // probability that a channel is zeroed; at least one stays
  bool operator==(const AugmentOptions&) const = default;
};

// The axes x, y, z along which training mirrors samples; test-time mirroring may use these.
std::array<bool, 3> mirrored_axes(const AugmentOptions& options);

// True if names distinguish left and right, which mirroring along x confuses: a word begins with left or
// right, or two names differ only in words that end with left and right, lh and rh, or l and r.
bool names_tell_sides(const Labels& labels);

// nnU-Net's augmentation, without elastic deformation: nnU-Net's 3D trainers disable it too.
AugmentOptions nnunet_augmentation();

// The key of the random streams.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;  // below 2^32
  std::uint32_t case_index = 0;
};

// One channel, in units of a normalised image. The defaults change nothing. Applied in the order of the
// members, which is nnU-Net's.
struct IntensityChange {
  double noise = 0;                  // standard deviation of additive Gaussian noise
  double blur = 0;                   // sigma of a Gaussian, voxels
  double brightness = 1, shift = 0;  // value * brightness + shift
  double contrast = 1;               // mean + (value - mean) * contrast, clamped to the old range
  double low_resolution = 1;         // downsampling to sides of this relative size and back, both linear
  double inverted_gamma = 1;         // gamma applied to the negated image
  double gamma =
      1;  // ((value - min) / (max - min))^gamma over the old range, then the old mean and deviation
  bool operator==(const IntensityChange&) const = default;
};

struct Augmentation {
  AugmentKey key;  // for noise and elastic control points
  SpatialChange space;
  std::vector<IntensityChange> channels;  // channels beyond the end of this list do not change
  std::vector<bool> dropped{};            // channels to set to zero, the same
};

Augmentation draw_augmentation(const AugmentOptions& options, const AugmentKey& key, const Size3& size,
                               std::int64_t channels);

bool changes_nothing(const Augmentation& augmentation);
SpatialMap map_of(const Augmentation& augmentation, const Size3& size, const Spacing& spacing);
Philox noise_of(const Augmentation& augmentation, std::size_t channel);  // the random stream

std::string describe(const Augmentation& augmentation);  // "rotated 12 -3 0, gamma 0.8"; "as it is"

}  // namespace voxswap::data
