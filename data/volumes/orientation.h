// Brings all images to one orientation: axes are flipped and permuted to be as close as possible to left,
// posterior, superior (ITK's LPS). Nothing is resampled, so it is exactly reversible.
#pragma once

#include <array>
#include <string>

#include "base/file.h"
#include "data/volumes/transforms.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The nearest of the six anatomical directions for each axis of a grid: "LPS", "RAS", "PIR".
std::string axis_codes(const Geometry& geometry);

// The symmetry that takes the axes of a grid to the canonical ones.
Symmetry to_canonical(const Geometry& geometry);

// The same voxels in the canonical frame: axis codes LPS. Spacing, origin and direction change with them.
Geometry canonical(const Geometry& geometry);
Image canonical(Image image);
LabelMap canonical(LabelMap labels);

// The inverse: returns `labels`, on the canonical grid of `stored`, in the voxel order of a file with
// geometry `stored`. REQUIRES: labels.geometry.size == canonical(stored).size
LabelMap as_stored(LabelMap labels, const Geometry& stored);
Image as_stored(Image image, const Geometry& stored);

// The affine of a file header, from voxel indices to world millimetres, and checks that the grid is regular.
using Affine = std::array<double, 12>;  // row-major, 3 x 4: three columns and the position of voxel (0,0,0)

// The length of a column: the size of a voxel.
double length(const Affine& affine, std::size_t axis);
// The largest cosine between two axes: 0 for right angles, 1 if an axis has zero length or is not finite.
double skew(const Affine& affine);
inline constexpr double most_skew = 1e-3;  // a quarter of a voxel over 240 voxels

// The grid of `size` voxels with this LPS affine. Throws Exit::bad_data naming the file for sheared axes or
// implausible values.
Geometry geometry_from(const fs::path& path, const Affine& lps, const Size3& size);

}  // namespace voxswap::data
