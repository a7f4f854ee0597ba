// From a volume to the network's input: crop and resize, and the information to undo both.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "data/volumes/prepared_case.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Region of the image to keep: the bounding box of the foreground, or all.
enum class Crop { foreground, none };
constexpr std::array<std::string_view, 2> names_of(Crop) {
  return {"foreground", "none"};
}

// Scope of the mean and deviation for normalisation: foregrounds of the training cases; their labelled
// voxels, after clipping to the 0.5 and 99.5 percentiles of these (nnU-Net's CT normalisation); each image's
// foreground; the same with the background set to 0; the whole image; no normalisation.
enum class Normalize { dataset, ct, image, masked, whole, none };
constexpr std::array<std::string_view, 6> names_of(Normalize) {
  return {"dataset", "ct", "image", "masked", "whole", "none"};
}
// Whether it uses statistics of the training cases.
constexpr bool needs_training_set(Normalize how) {
  return how == Normalize::dataset || how == Normalize::ct;
}

// Whether a volume is a stack of slices, which are resized in their plane only.
enum class Slices { none, axial };
constexpr std::array<std::string_view, 2> names_of(Slices) {
  return {"none", "axial"};
}

// nnunet: as nnU-Net 2 prepares cases (nnunet_recipe.h).
enum class Recipe { voxswap, nnunet };
constexpr std::array<std::string_view, 2> names_of(Recipe) {
  return {"voxswap", "nnunet"};
}

// How the recipe nnunet normalises a channel: mean 0 and deviation 1 over the crop, or over its foreground
// only; its range to 0 to 1; divided by 255; unchanged; or, for CT, clipped to [low, high], then
// (value - mean) / deviation.
struct Scheme {
  enum class Name { zscore, zscore_masked, rescale, rgb, none, ct };
  Name name = Name::zscore;
  double low = 0, high = 0, mean = 0, deviation = 1;  // ct
  bool operator==(const Scheme&) const = default;
};
constexpr std::array<std::string_view, 6> names_of(Scheme::Name) {
  return {"zscore", "zscore_masked", "rescale", "rgb", "none", "ct"};
}

// The `preprocess` part of an experiment.
struct PrepareOptions {
  Size3 resolution{128, 128, 128};    // voxels x, y, z after resizing; z is 1 for 2D images and slices
  Spacing spacing{0, 0, 0};           // mm to resample to instead; 0: use resolution
  bool automatic_spacing = false;     // choose the spacing from the data set: target_spacing()
  bool automatic_resolution = false;  // with a spacing: choose the resolution from the sizes of the cases
  Slices slices = Slices::none;       // axial: the number of planes is that of the crop
  Crop crop = Crop::foreground;
  std::vector<std::string> bias_correction;  // {}: none; {"n4"}: automatic; else names of modalities
  std::vector<bool> bias_channels;           // the same per channel, by for_modalities()
  double clip_low = 0, clip_high = 100;      // percentiles of the foreground
  Normalize normalize = Normalize::dataset;
  bool corner_background = false;  // take the background from each image's corner
  double background = 0;           // otherwise this value
  Recipe recipe = Recipe::voxswap;
  std::vector<Scheme> schemes{};          // recipe nnunet: per channel
  std::array<int, 3> transpose{0, 1, 2};  // recipe nnunet: its transpose_forward, of the axes z, y, x

  bool by_spacing() const { return spacing[0] > 0; }
  bool operator==(const PrepareOptions&) const = default;
};

// Resolves the options that depend on channel names. Throws Exit::usage.
PrepareOptions for_modalities(PrepareOptions options, const std::vector<std::string>& modalities);

// Bias correction, crop, clipping, resizing, statistics, in this order. REQUIRES: for_modalities() was called
// if bias correction is set.
PreparedCase prepare(const Volume& volume, const PrepareOptions& options);

// D,H,W,C from one D,H,W per channel; in blocks small enough that all channels stay in the cache.
std::vector<float> interleaved(const std::vector<Image>& images);

// Mean and deviation per channel: value -> (value - mean) / deviation. A missing channel stays 0.
struct Normalization {
  std::vector<double> mean, deviation;
  bool masked = false;                // voxels equal to the background become 0
  std::vector<double> low{}, high{};  // values are clipped to these first; empty: no clipping
};
// Normalisation by the data set: mean of the cases' means and of their deviations (as in the published
// study), over the cases that have the channel; for ct, those of all labelled voxels. Throws Exit::bad_data
// if ct finds no labelled voxel.
Normalization dataset_normalization(const std::vector<CaseStatistics>& cases,
                                    Normalize how = Normalize::dataset);
// The statistics of a case for dataset_normalization(), without the labelled voxels unless `how` uses them.
CaseStatistics statistics_for(Normalize how, const PreparedCase& prepared);
// The normalisation of a case under options.normalize: "dataset" and "ct" use `dataset`, "image" the case's
// own over its foreground, "masked" the same with the background set to 0, "whole" the case's own over all
// voxels, "none" mean 0 and deviation 1.
Normalization normalization_for(const PreparedCase& prepared, const PrepareOptions& options,
                                const Normalization& dataset);
NormalizedCase normalize(PreparedCase prepared, const Normalization& normalization);

// Target bits per voxel for the loss: bit c % 8 of byte c / 8 is set if the ground truth is in `classes[c]`
// (a set of label values). Uses as many bytes as needed.
std::vector<std::uint8_t> target_bits(const std::vector<std::int16_t>& truth,
                                      const std::vector<std::vector<int>>& classes);
// Target class per voxel for the loss: the first c for which `classes[c]` contains the value, or 255 if none
// does. More than 255 classes use two bytes, little-endian, and 65535 for none.
std::vector<std::uint8_t> target_classes(const std::vector<std::int16_t>& truth,
                                         const std::vector<std::vector<int>>& classes);

// nnU-Net's target spacing for a data set: the median along each axis. If one axis is anisotropic in spacing
// and in size, the 10th percentile of its spacings, so that few cases lose detail.
Spacing target_spacing(std::span<const Geometry> grids);

}  // namespace voxswap::data
