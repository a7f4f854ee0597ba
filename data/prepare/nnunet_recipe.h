// Prepares cases as nnU-Net 2 does (its DefaultPreprocessor), for networks that nnU-Net trained.
//
// A case keeps the axes of its first channel's file, z, y, x, which are then permuted by `transpose`. It is
// cropped to the bounding box of all voxels that are not 0 in any channel, with holes filled. Each channel is
// normalised by its scheme and then resampled to the spacing, which is along the permuted axes, by cubic
// splines (skimage.transform.resize: order 3, mode edge). If one axis is more than three times as coarse as
// the finest, slices are resampled in their plane, and the nearest slice is taken along that axis.
//
// Labels that the first network of a cascade predicted become further channels, one per label: 1 in its
// voxels, otherwise 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/prepare/prepare_options.h"
#include "data/volumes/prepared_case.h"

namespace voxswap::data {

// REQUIRES: a spacing, and a scheme for each channel. Throws Exit::usage for another number of schemes,
// Exit::bad_data for intensities outside of 0 to 255 with the scheme rgb.
PreparedCase prepare_as_nnunet(const Volume& volume, const PrepareOptions& options);

// The size of a prepared case whose files have this grid, if nothing is cropped.
Size3 most_voxels_as_nnunet(const Geometry& stored, const PrepareOptions& options);

// The axis that is not interpolated when a grid of spacing `from` is resampled to `to`: the coarsest axis of
// `from` if that is anisotropic, otherwise of `to`; nullopt if neither is or two axes are equally coarse.
std::optional<std::size_t> separate_axis(const Spacing& from, const Spacing& to);

// For each of `to` positions, the nearest of `from`.
std::vector<std::int64_t> nearest_positions(std::int64_t from, std::int64_t to);

// The voxels that are connected to the border of the grid through voxels of value 0, through faces: all
// others are foreground.
std::vector<std::uint8_t> filled_foreground(const std::vector<Image>& channels);

}  // namespace voxswap::data
