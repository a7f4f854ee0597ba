// Resampling to another voxel size, as nnU-Net does it (Isensee et al., Nature Methods 2021): images by cubic
// B-splines, label maps linearly per label.
//
// Voxel centres are aligned as in transforms.h. Where the voxels of one axis are more than three times as
// long as the others, slices are resampled by themselves, and along that axis the nearest slice is taken.
#pragma once

#include <array>
#include <optional>

#include "data/volumes/separable.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

using Spacing = std::array<double, 3>;  // mm along x, y, z

inline constexpr double anisotropic = 3;  // from this ratio of an axis's spacing to the others' on

// The axis with such voxels; none where there is none.
std::optional<std::size_t> coarse_axis(const Spacing& spacing);

// How many voxels of `spacing` the grid has along each axis: rounded, at least 1.
Size3 size_at(const Geometry& grid, const Spacing& spacing);

// The cubic B-spline through all voxels, mirrored at the edges, as ITK's (Unser, IEEE Signal Processing
// Magazine 1999). Voxels further away than 12 weigh less than 1e-7 and are left out.
Band cubic_band(std::int64_t from, std::int64_t to);

// `slices_along`: the axis along which the nearest voxel is taken.
Image resample_cubic(const Image& image, const Size3& size, std::optional<std::size_t> slices_along = {});
// The label that has the largest share of a voxel when each is resampled linearly; of equal shares the
// smallest label.
LabelMap resample_shares(const LabelMap& labels, const Size3& size,
                         std::optional<std::size_t> slices_along = {});

}  // namespace voxswap::data
