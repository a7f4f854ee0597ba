// From a volume to the network's input: crop and resize, and the information to undo both.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/prepare/prepare_options.h"
#include "data/volumes/prepared_case.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Resolves the options that depend on channel names. Throws Exit::usage.
PrepareOptions for_modalities(PrepareOptions options, const std::vector<std::string>& modalities);

// Bias correction, crop, clipping, resizing, statistics, in this order. REQUIRES: for_modalities() was called
// if bias correction is set.
PreparedCase prepare(const Volume& volume, const PrepareOptions& options);

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
