// The spatial augmentation as one map from the augmented grid to the prepared one: symmetry, scaling along
// the axes, rotation and elastic deformation are composed, so that images are interpolated once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "data/volumes/smooth_field.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

// Nothing is changed by the defaults.
struct SpatialChange {
  int symmetry = 0;                        // transforms.h
  std::array<double, 3> degrees{0, 0, 0};  // turned about x, then y, then z, right-handed in millimetres
  std::array<double, 3> factors{1, 1, 1};  // by which the head grows along x, y, z before that
  double elastic = 0;                      // deviation of the displacement, mm
  double elastic_grid = 32;                // mm between control points of its cubic B-spline
};

bool is_symmetry(const SpatialChange& change);  // and nothing else: voxels land on voxels

// Everything turns and grows about the centre of the grid. The elastic displacement is what SmoothField
// draws, its control points held to 0.4 of their distance, below which a deformation folds nowhere (Choi and
// Lee, "Injectivity conditions of 2D and 3D uniform cubic B-spline functions", Graphical Models 2000).
class SpatialMap {
 public:
  // `random`: of the displacement along x, y, z. REQUIRES: a symmetry that keeps the box in shape.
  SpatialMap(const SpatialChange& change, const Size3& size, const std::array<double, 3>& spacing,
             const std::array<Philox, 3>& random);

  // Position in the prepared grid, in voxels, that the augmented voxel x, y, z reads; not yet held to the
  // grid.
  std::array<double, 3> source(std::int64_t x, std::int64_t y, std::int64_t z) const;

  // D,H,W,C, linear, clamped at the edge. `result` may come with memory of its own to be used again.
  void read(const std::vector<float>& image, std::int64_t channels, std::vector<float>& result) const;
  // D,H,W: of the labels around a position the one with the largest linear weight.
  std::vector<std::int16_t> read(const std::vector<std::int16_t>& labels) const;

 private:
  struct Row;
  void locate(std::int64_t y, std::int64_t z, Row& row) const;
  template <int C>
  void read_rows(const std::vector<float>& image, std::vector<float>& result) const;

  Size3 size_;
  // source = offset + index * (x, y, z) + along * (displacement in mm)
  std::array<double, 3> offset_{};
  std::array<std::array<double, 3>, 3> index_{}, along_{};
  std::array<double, 3> spacing_{};   // of the augmented grid
  std::vector<SmoothField> elastic_;  // three, or none
  SmoothField::Line line_;            // where rows of the grid fall between control points
};

}  // namespace voxswap::data
