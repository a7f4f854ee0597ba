// One orientation for all images: axes are flipped and permuted to be as near as possible to left, posterior,
// superior (ITK's LPS). Nothing is resampled, so it can be undone exactly.
#pragma once

#include <array>
#include <string>

#include "base/file.h"
#include "data/volumes/transforms.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Where the axes of a grid point to, nearest of the six directions each: "LPS", "RAS", "PIR".
std::string axis_codes(const Geometry& geometry);

// What takes the axes of a grid to the canonical ones.
Symmetry to_canonical(const Geometry& geometry);

// The same voxels in the canonical frame: axis codes LPS. Spacing, origin and direction follow.
Geometry canonical(const Geometry& geometry);
Image canonical(Image image);
LabelMap canonical(LabelMap labels);

// The way back: `labels`, on the canonical grid of `stored`, as they lie in a file of that geometry.
// REQUIRES: labels.geometry.size == canonical(stored).size
LabelMap as_stored(LabelMap labels, const Geometry& stored);
Image as_stored(Image image, const Geometry& stored);

// The map from voxel indices to world millimetres of a file header, and whether it is a regular grid.
using Affine = std::array<double, 12>;  // row-major, 3 x 4: three columns and the place of voxel (0,0,0)

// The length of a column: the size of a voxel.
double length(const Affine& affine, std::size_t axis);
// The largest cosine between two axes: 0 when they stand at right angles, 1 when an axis has no length or is
// no number.
double skew(const Affine& affine);
inline constexpr double most_skew = 1e-3;  // a quarter of a voxel over the 240 of a scan

// The grid of `size` voxels that lies so in LPS. Throws Exit::bad_data naming the file for sheared or
// unbelievable axes.
Geometry geometry_from(const fs::path& path, const Affine& lps, const Size3& size);

}  // namespace voxswap::data
