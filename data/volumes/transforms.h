// Cropping, resampling and symmetries: pure functions on grids.
//
// Resampling aligns voxel centres: src = (dst + 0.5) * n_old / n_new - 0.5, clamped at the edge; new spacing
// = old * n_old / n_new. Linear for images; labels are in label_resampling.h. The tests compare it with ITK.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

// Whether any voxel differs from the background in any channel. `background` has one value per channel.
bool has_foreground(const std::vector<Image>& channels, std::span<const float> background);

// The smallest box around all voxels that differ from the background in any channel, plus a margin of one
// voxel, clamped to the grid. Without foreground it is the whole grid.
VoxelBox foreground_box(const std::vector<Image>& channels, std::span<const float> background);

// Value of the corner voxel (0,0,0): the background of skull-stripped images that are already normalised.
float corner_value(const Image& image);
// Whether all eight corners have the same value, which is then the background.
bool constant_corners(const Image& image);
// The value outside the image: that of its corners, or its lowest value if they differ.
float outside_value(const Image& image);

// World position of a crop or a resampled grid.
Geometry crop_geometry(const Geometry& geometry, const VoxelBox& box);
Geometry resample_geometry(const Geometry& geometry, const Size3& size);

Image crop(const Image& image, const VoxelBox& box);
LabelMap crop(const LabelMap& labels, const VoxelBox& box);

// One axis of resample_linear: output voxel i interpolates between inputs low[i] and high[i], with
// `weight[i]` on the latter.
struct LinearAxis {
  std::vector<std::size_t> low, high;
  std::vector<double> weight;
};
LinearAxis linear_axis(std::int64_t from, std::int64_t to);

Image resample_linear(const Image& image, const Size3& size);
// Row (y, z) of the same for a slab D,H,W,`channels`, whose first plane is `slab_first`: W,channels. `blend`
// is scratch memory. REQUIRES: the slab contains all planes that these interpolate between (linear_axis).
void resample_row(std::span<const float> slab, const Size3& from, std::int64_t channels,
                  std::int64_t slab_first, const std::array<LinearAxis, 3>& axes, std::size_t y,
                  std::size_t z, std::vector<double>& blend, std::span<float> row);

// D,H,W,C from one D,H,W per channel; in blocks small enough that all channels stay in the cache.
std::vector<float> interleaved(const std::vector<Image>& images);

// The 48 symmetries of the cube: a permutation of the axes and a flip of each. Index 0 is the identity.
struct Symmetry {
  std::array<int, 3> axes{0, 1, 2};                // output axis i (x, y, z) reads input axis axes[i]
  std::array<bool, 3> flips{false, false, false};  // and reads it backwards
};
Symmetry symmetry(int index);                            // 0 <= index < 48
std::vector<int> allowed_symmetries(const Size3& size);  // those that preserve a box of this size
// Applies it to a D,H,W,C array (C innermost) of this x,y,z size.
template <class T>
std::vector<T> apply(const Symmetry& symmetry, const std::vector<T>& voxels, const Size3& size,
                     std::int64_t channels);

// Resamples a volume onto another grid by world coordinates, for channels of a case that have different grids
// (`data.align`).
//
// There is no registration: the positions in the files are trusted. A voxel centre outside the moving grid,
// which extends half a voxel beyond its outermost centres, gets `outside`.
Image resample_onto(const Geometry& grid, const Image& moving, float outside);  // linear
LabelMap resample_onto(const Geometry& grid, const LabelMap& moving);           // nearest, 0 outside

}  // namespace voxswap::data
