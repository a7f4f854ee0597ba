#include "data/cases/grid_trouble.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/keys.h"
#include "base/text.h"

namespace voxswap::data {

namespace {

struct Bounds {
  std::array<double, 3> low, high;  // mm along the world axes
  double volume() const {
    double product = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) product *= std::max(0.0, high[axis] - low[axis]);
    return product;
  }
};

// The bounding box of a grid's voxels.
Bounds bounds_of(const Geometry& grid) {
  Bounds box{grid.origin, grid.origin};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t side = 0; side < 3; ++side) {
      const double step = grid.direction[3 * axis + side] * grid.spacing[side];
      (step < 0 ? box.low : box.high)[axis] += step * static_cast<double>(grid.size[side] - 1);
      box.low[axis] -= std::abs(step) / 2;
      box.high[axis] += std::abs(step) / 2;
    }
  }
  return box;
}

// Images of one patient cover the same anatomy.
bool hardly_overlap(const Geometry& grid, const Geometry& reference) {
  const Bounds a = bounds_of(grid), b = bounds_of(reference);
  Bounds shared;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    shared.low[axis] = std::max(a.low[axis], b.low[axis]);
    shared.high[axis] = std::min(a.high[axis], b.high[axis]);
  }
  return shared.volume() < 0.1 * std::min(a.volume(), b.volume());
}

}  // namespace

FileTrouble grid_trouble(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                         const Geometry& reference) {
  if (same_grid(grid, reference)) return {};
  FileTrouble trouble{format("{}: has a different grid ({}) than {} ({})", path.string(), describe(grid),
                             reference_path.filename().string(), describe(reference)),
                      {}};
  if (hardly_overlap(grid, reference)) {
    trouble.what += ", and they hardly overlap";
    trouble.fix = "replace the file if it belongs to another patient or session, or correct its origin";
  } else {
    trouble.fix = format("set {}: true if both are of one patient and session, or else replace the file",
                         key::data_align);
  }
  return trouble;
}

}  // namespace voxswap::data
