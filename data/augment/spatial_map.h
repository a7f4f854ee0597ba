// Spatial augmentation as one map from the augmented grid to the prepared one. Symmetry, scaling, rotation
// and elastic deformation are composed, so that images are interpolated once (net/ops/spatial_map.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "data/volumes/smooth_field.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

// The defaults change nothing.
struct SpatialChange {
  int symmetry = 0;                        // transforms.h
  std::array<double, 3> degrees{0, 0, 0};  // rotation about x, then y, then z, right-handed in millimetres
  std::array<double, 3> factors{1, 1, 1};  // scaling along x, y, z before the rotation; above 1 enlarges
  double elastic = 0;                      // standard deviation of the displacement, mm
  double elastic_grid = 32;                // mm between control points of the cubic B-spline
  bool operator==(const SpatialChange&) const = default;
};

// Rotation and scaling are about the centre of the grid. The elastic displacement is a SmoothField whose
// coefficients are clamped to 0.4 of the control point distance; below that the deformation cannot fold (Choi
// and Lee, "Injectivity conditions of 2D and 3D uniform cubic B-spline functions", Graphical Models 2000).
struct SpatialMap {
  // `before`: the spacing of the prepared grid. `random`: the streams of the displacement along x, y, z.
  // REQUIRES: a symmetry that preserves the box size.
  SpatialMap(const SpatialChange& change, const Size3& size, const Spacing& before,
             const std::array<Philox, 3>& random);

  // The position in the prepared grid, in voxels, that augmented voxel x, y, z reads, before clamping to the
  // grid: offset + index * (x, y, z) + along * (displacement in mm).
  std::array<double, 3> source(std::int64_t x, std::int64_t y, std::int64_t z) const;

  std::array<double, 3> offset{};
  std::array<std::array<double, 3>, 3> index{}, along{};
  Spacing spacing{};                 // of the augmented grid
  std::vector<SmoothField> elastic;  // the displacement along x, y, z, or none
};

}  // namespace voxswap::data
