// The `preprocess` part of an experiment.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
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

// The spacing that a case is resampled to. With the recipe nnunet, a z of 0 is that of each case.
constexpr Spacing spacing_for(const Spacing& asked, const Spacing& of_case) {
  return {asked[0], asked[1], asked[2] > 0 ? asked[2] : of_case[2]};
}

// The `preprocess` part of an experiment.
struct PrepareOptions {
  Size3 resolution{128, 128, 128};    // voxels x, y, z after resizing; z is 1 for 2D images and slices
  Spacing spacing{0, 0, 0};           // mm to resample to instead; 0: use resolution; see spacing_for()
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
  bool cascade = false;  // recipe nnunet: the labels of Volume::previous are channels of the input

  bool by_spacing() const { return spacing[0] > 0; }
  bool operator==(const PrepareOptions&) const = default;
};

}  // namespace voxswap::data
