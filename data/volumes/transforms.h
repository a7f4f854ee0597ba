// Cropping, resampling and symmetries: pure functions on grids.
//
// Resampling aligns voxel centres: src = (dst + 0.5) * n_old / n_new - 0.5, edge clamped; new spacing = old *
// n_old / n_new. Linear for images, nearest for labels. (As in the published study; checked against ITK
// in the tests.)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

struct Box {
  Size3 start{0, 0, 0};
  Size3 size{0, 0, 0};
  bool operator==(const Box&) const = default;
};

// The smallest box that holds every voxel that differs from the background in any channel, one voxel of
// margin, clamped to the grid. `background` has one value per channel. An empty foreground gives the whole
// grid.
Box foreground_box(const std::vector<Image>& channels, std::span<const float> background);

// Value of the corner voxel (0,0,0): the background of skull-stripped images that were normalised before.
float corner_value(const Image& image);

// Where the voxels of a crop, or of a resampled grid, lie in the world.
Geometry crop_geometry(const Geometry& geometry, const Box& box);
Geometry resample_geometry(const Geometry& geometry, const Size3& size);

Image crop(const Image& image, const Box& box);
LabelMap crop(const LabelMap& labels, const Box& box);

// Along one axis of resample_linear: the output voxel i lies between inputs low[i] and high[i], `weight[i]`
// of the way.
struct LinearAxis {
  std::vector<std::size_t> low, high;
  std::vector<double> weight;
};
LinearAxis linear_axis(std::int64_t from, std::int64_t to);

Image resample_linear(const Image& image, const Size3& size);
// Only the planes z = first, …, first + count - 1 of what resample_linear gives.
Image resample_linear_planes(const Image& image, const Size3& size, std::int64_t first, std::int64_t count);
// The same voxels, of an image of which only planes are there: those from `slab_first` on, of `depth`.
// REQUIRES: the ones that they lie between (linear_axis) are among them.
std::vector<float> resample_linear_slab(const std::vector<float>& slab, const Size3& from,
                                        std::int64_t slab_first, const Size3& size, std::int64_t first,
                                        std::int64_t count);
LabelMap resample_nearest(const LabelMap& labels, const Size3& size);

// Puts labels on the grid of a box back into the full grid `whole`, background (0) elsewhere, resampling by
// nearest first if `labels` is not of the box's size. The way back of crop and resample.
LabelMap restore(const LabelMap& labels, const Box& box, const Geometry& whole);

// The 48 symmetries of the cube: a permutation of the axes and a flip of each. index 0 is the identity.
struct Symmetry {
  std::array<int, 3> axes{0, 1, 2};                // output axis i (x, y, z) reads input axis axes[i]
  std::array<bool, 3> flips{false, false, false};  // and runs backwards along it
};
Symmetry symmetry(int index);                            // 0 <= index < 48
std::vector<int> allowed_symmetries(const Size3& size);  // those that keep a box of this size in shape
// Applies it to a D,H,W,C array (C innermost) of the given x,y,z size.
template <class T>
std::vector<T> apply(const Symmetry& symmetry, const std::vector<T>& voxels, const Size3& size,
                     std::int64_t channels);

// Resamples a volume onto another grid by world coordinates, for channels of a case that have different grids
// (`data.align`).
//
// No registration: positions in the files are believed. A voxel centre outside the moving grid, which reaches
// half a voxel beyond its outermost centres, gets `outside`.
Image resample_onto(const Geometry& grid, const Image& moving, float outside);  // linear
LabelMap resample_onto(const Geometry& grid, const LabelMap& moving);           // nearest, 0 outside

}  // namespace voxswap::data
