// Resampling to another voxel size as nnU-Net does it (Isensee et al., Nature Methods 2021): images by cubic
// B-splines; label maps are in label_resampling.h.
//
// Voxel centres are aligned as in transforms.h. If one axis has a spacing more than three times that of the
// others, each slice is resampled in its plane, and the nearest slice is taken along that axis.
#pragma once

#include <optional>

#include "data/volumes/separable.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

inline constexpr double anisotropic = 3;  // ratio of an axis's spacing to that of the others

// The anisotropic axis, or nullopt.
std::optional<std::size_t> coarse_axis(const Spacing& spacing);

// The grid size for `spacing` along each axis: rounded, at least 1.
Size3 size_at(const Geometry& grid, const Spacing& spacing);

// Values beyond the edge: mirrored like ITK's, or those of the edge like SciPy's mode nearest.
enum class Edge { mirrored, repeated };

// Weights of the interpolating cubic B-spline (Unser, IEEE Signal Processing Magazine 1999). Voxels further
// away than 12 weigh less than 1e-7 and are omitted.
Band cubic_band(std::int64_t from, std::int64_t to, Edge edge = Edge::mirrored);

// `slices_along`: the axis along which the nearest voxel is taken.
Image resample_cubic(const Image& image, const Size3& size, std::optional<std::size_t> slices_along = {});

}  // namespace voxswap::data
