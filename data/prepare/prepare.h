// From a volume to the network's input: crop, resize, and keep the way back.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "data/volumes/spline.h"
#include "data/volumes/transforms.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// What is kept of an image: the box around what is not background, or all.
enum class Crop { foreground, none };
constexpr std::array<std::string_view, 2> names_of(Crop) {
  return {"foreground", "none"};
}

// What has mean 0 and deviation 1 afterwards: the training cases' foregrounds; their labelled voxels, after
// clipping to the 0.5 and 99.5 percentiles of these (nnU-Net's for CT); each image's foreground; that, with
// the background at 0; the whole image; or nothing.
enum class Normalize { dataset, ct, image, masked, whole, none };
constexpr std::array<std::string_view, 6> names_of(Normalize) {
  return {"dataset", "ct", "image", "masked", "whole", "none"};
}
// Whether statistics of the training cases are part of it.
constexpr bool needs_training_set(Normalize how) {
  return how == Normalize::dataset || how == Normalize::ct;
}

// Whether a volume is a stack of images, which are then resized each by itself.
enum class Slices { none, axial };
constexpr std::array<std::string_view, 2> names_of(Slices) {
  return {"none", "axial"};
}

// The `preprocess` part of an experiment.
struct PrepareOptions {
  Size3 resolution{128, 128, 128};  // voxels x, y, z after cropping and resizing; of images and slices z is 1
  Spacing spacing{0, 0, 0};         // mm to resample to in place of that; 0: none
  bool automatic_spacing = false;   // choose it from the data set: target_spacing()
  bool automatic_resolution = false;  // with a spacing: choose the resolution from the cases' sizes at it
  Slices slices = Slices::none;       // axial: as many planes as the crop has
  Crop crop = Crop::foreground;
  std::vector<std::string> bias_correction;  // none: empty; n4: {"n4"}; else modalities by name
  std::vector<bool> bias_channels;           // which those are: for_modalities()
  double clip_low = 0, clip_high = 100;      // percentiles of the foreground
  Normalize normalize = Normalize::dataset;
  bool corner_background = false;  // take the background from each image's corner
  double background = 0;           // else this value

  bool by_spacing() const { return spacing[0] > 0; }
};

// One case on the training grid. Not yet normalised: statistics over the data set come later.
struct PreparedCase {
  std::string id;
  Size3 size{0, 0, 0};  // the training grid
  std::int64_t channels = 0;
  std::vector<float> image;  // D,H,W,C
  std::vector<std::int16_t>
      truth;  // D,H,W label values as in the data set (0 background); empty when there is none
  std::vector<double> mean, deviation;  // per channel, over the resized box's foreground (voxels that differ
                                        // from the background), or of the box as it was before it is
                                        // resampled to a spacing; deviation is the population's
  std::vector<float> labelled;          // of at most 10,000 labelled voxels of the box, all channels of each
  std::vector<float> background;        // per channel, the value used
  std::vector<bool> missing;  // per channel, whether there is none, and 0 in its place; empty: all are there
  Box box;                    // the crop, on the original grid
  Geometry original;          // the case's own grid, in the canonical frame (orientation.h)
  Geometry stored;            // the same grid as the case's file has it: as_stored() puts a label map back

  bool lacks(std::size_t channel) const;
  LabelMap to_original(const LabelMap& on_training_grid) const;  // restore(…, box, original)
  Geometry training_geometry() const;                            // where the training grid lies in the world
};

// The options with what depends on the channels' names decided. Throws Exit::usage.
PrepareOptions for_modalities(PrepareOptions options, const std::vector<std::string>& modalities);

// Bias correction, crop, clipping, resizing, statistics, in this order. REQUIRES: for_modalities() where
// there is a bias correction.
PreparedCase prepare(const Volume& volume, const PrepareOptions& options);

// Mean and deviation per channel that normalise an image: value -> (value - mean) / deviation. A channel that
// is missing stays 0.
struct Normalization {
  std::vector<double> mean, deviation;
  bool masked = false;                // what equals the background becomes 0
  std::vector<double> low{}, high{};  // what values are clipped to before; empty: they are not
};
// The data set's: mean of the cases' means, mean of their deviations (as in the study), of the cases that
// have the channel; of ct, those of all labelled voxels. Only mean, deviation, labelled and missing are read.
// Throws Exit::bad_data where ct finds no labelled voxel.
Normalization dataset_normalization(const std::vector<PreparedCase>& cases,
                                    Normalize how = Normalize::dataset);
// The one that applies to a case under options.normalize: "dataset" and "ct" give `dataset`, "image" the
// case's own over its foreground, "masked" the same with the background at 0, "whole" the case's own over all
// voxels, "none" 0 and 1.
Normalization normalization_for(const PreparedCase& prepared, const PrepareOptions& options,
                                const Normalization& dataset);
void normalize(PreparedCase& prepared, const Normalization& normalization);

// Target bits per voxel for the loss: bit c % 8 of a voxel's byte c / 8 is set where the truth belongs to
// `classes[c]` (a set of label values). As many bytes as it takes.
std::vector<std::uint8_t> target_bits(const std::vector<std::int16_t>& truth,
                                      const std::vector<std::vector<int>>& classes);
// Target class per voxel for the loss: the first c of which `classes[c]` holds the value; 255 where none
// does. Of more than 255 classes it takes two bytes, the low one first, and 65535 stands for none.
std::vector<std::uint8_t> target_classes(const std::vector<std::int16_t>& truth,
                                         const std::vector<std::vector<int>>& classes);

// nnU-Net's voxel size for a data set: the median along each axis. Where that axis is anisotropic, in spacing
// and in voxels, the 10th percentile of its spacings, so that few cases lose detail.
Spacing target_spacing(std::span<const Geometry> grids);

// Suggests resolutions for a data set, from the sizes of its foregrounds.
struct ResolutionAdvice {
  Size3 size;
  std::string why;          // "fits the median foreground"
  std::int64_t shrunk = 0;  // cases of which some axis has more voxels than `size` gives it
  double kept = 1;          // mean over the cases of the share of foreground voxels that are left
};

// Boxes and cubes with sides that are multiples of `multiple` (what a U-Net of depth 5 asks for is 16),
// smallest first. `foregrounds` are extents in voxels; empty gives nothing.
std::vector<ResolutionAdvice> sensible_resolutions(std::span<const Size3> foregrounds,
                                                   std::int64_t multiple = 16);

}  // namespace voxswap::data
