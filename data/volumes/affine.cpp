#include "data/volumes/affine.h"

#include <algorithm>
#include <cmath>

#include "base/counts.h"
#include "base/error.h"
#include "base/filesystem.h"

namespace voxswap::data {

double length(const Affine& affine, std::size_t axis) {
  return std::hypot(affine[axis], affine[4 + axis], affine[8 + axis]);
}

double skew(const Affine& affine) {
  double worst = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t next = (axis + 1) % 3;
    const double lengths = length(affine, axis) * length(affine, next);
    const double product = affine[axis] * affine[next] + affine[4 + axis] * affine[4 + next] +
                           affine[8 + axis] * affine[8 + next];
    const double cosine = lengths > 1e-20 ? std::fabs(product) / lengths : 1.0;
    worst = std::max(worst, std::isfinite(cosine) ? cosine : 1.0);
  }
  return worst;
}

Geometry geometry_from(const fs::path& path, const Affine& lps, const Size3& size) {
  Geometry geometry;
  geometry.size = size;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double spacing = length(lps, axis), origin = lps[axis * 4 + 3];
    if (!std::isfinite(spacing) || spacing < 1e-10 || spacing > 1e10 || !std::isfinite(origin)) {
      fail(Exit::bad_data, "{}: is damaged: its header gives axis {} with {} of {} mm, starting at {} mm",
           path.string(), axis, counted(size[axis], "voxel"), number(spacing), number(origin));
    }
    geometry.spacing[axis] = spacing;
    geometry.origin[axis] = origin + 0.0;  // no negative zeros
    for (std::size_t row = 0; row < 3; ++row)
      geometry.direction[row * 3 + axis] = lps[row * 4 + axis] / spacing + 0.0;
  }
  if (skew(lps) > most_skew) {
    fail(Exit::bad_data, "{}: its axes are not at right angles. Resample it onto a regular grid",
         path.string());
  }
  return geometry;
}

}  // namespace voxswap::data
