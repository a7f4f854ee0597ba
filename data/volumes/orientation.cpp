#include "data/volumes/orientation.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace voxswap::data {

namespace {

Symmetry inverse(const Symmetry& symmetry) {
  Symmetry back;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto source = static_cast<std::size_t>(symmetry.axes[i]);
    back.axes[source] = static_cast<int>(i);
    back.flips[source] = symmetry.flips[i];
  }
  return back;
}

bool changes_nothing(const Symmetry& symmetry) {
  return symmetry.axes == Symmetry{}.axes && symmetry.flips == Symmetry{}.flips;
}

Geometry turned(const Geometry& geometry, const Symmetry& symmetry) {
  Geometry result = geometry;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto source = static_cast<std::size_t>(symmetry.axes[i]);
    result.size[i] = geometry.size[source];
    result.spacing[i] = geometry.spacing[source];
    const double length = geometry.spacing[source] * static_cast<double>(geometry.size[source] - 1);
    for (std::size_t row = 0; row < 3; ++row) {
      const double cosine = geometry.direction[row * 3 + source];
      result.direction[row * 3 + i] = (symmetry.flips[i] ? -cosine : cosine) + 0.0;  // no negative zeros
      if (symmetry.flips[i]) result.origin[row] += cosine * length;
    }
  }
  return result;
}

// apply() in place, for a symmetry that only flips.
template <class T>
void flip(Grid<T>& grid, const std::array<bool, 3>& flips) {
  const auto [nx, ny, nz] = grid.geometry.size;
  for (std::int64_t z = 0; z < nz; ++z) {
    for (std::int64_t y = 0; y < ny; ++y) {
      T* row = &grid.at(0, y, z);
      T* other = &grid.at(0, flips[1] ? ny - 1 - y : y, flips[2] ? nz - 1 - z : z);
      if (other < row) continue;
      if (!flips[0]) {
        if (other != row) std::swap_ranges(row, row + nx, other);
      } else if (other == row) {
        std::reverse(row, row + nx);
      } else {
        for (std::int64_t x = 0; x < nx; ++x) std::swap(row[x], other[nx - 1 - x]);
      }
    }
  }
}

template <class T>
Grid<T> canonical_grid(Grid<T> grid) {
  const Symmetry symmetry = to_canonical(grid.geometry);
  if (changes_nothing(symmetry)) return grid;
  if (symmetry.axes == Symmetry{}.axes) {
    flip(grid, symmetry.flips);
    grid.geometry = turned(grid.geometry, symmetry);
    return grid;
  }
  return {turned(grid.geometry, symmetry), apply(symmetry, grid.voxels, grid.geometry.size, 1)};
}

template <class T>
Grid<T> stored_grid(Grid<T> grid, const Geometry& stored) {
  assert(grid.geometry.size == canonical(stored).size);
  const Symmetry symmetry = to_canonical(stored);
  if (!changes_nothing(symmetry)) grid.voxels = apply(inverse(symmetry), grid.voxels, grid.geometry.size, 1);
  grid.geometry = stored;
  return grid;
}

}  // namespace

// Output axis i, which should point along world axis i, reads the stored axis closest to it.
Symmetry to_canonical(const Geometry& geometry) {
  const auto cosine = [&](std::size_t row, int axis) {
    return geometry.direction[row * 3 + static_cast<std::size_t>(axis)];
  };
  Symmetry best;
  double most = -1;
  for (int number = 0; number < 48; number += 8) {  // the six orders, without flips
    const Symmetry order = symmetry(number);
    double along = 0;
    for (std::size_t i = 0; i < 3; ++i) along += std::fabs(cosine(i, order.axes[i]));
    if (along > most + 1e-6) {
      most = along;
      best = order;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) best.flips[i] = cosine(i, best.axes[i]) < 0;
  return best;
}

std::string axis_codes(const Geometry& geometry) {
  const Symmetry symmetry = to_canonical(geometry);
  std::string codes = "???";
  for (std::size_t i = 0; i < 3; ++i) {
    codes[static_cast<std::size_t>(symmetry.axes[i])] = (symmetry.flips[i] ? "RAI" : "LPS")[i];
  }
  return codes;
}

Geometry canonical(const Geometry& geometry) {
  return turned(geometry, to_canonical(geometry));
}
Image canonical(Image image) {
  return canonical_grid(std::move(image));
}
LabelMap canonical(LabelMap labels) {
  return canonical_grid(std::move(labels));
}
LabelMap as_stored(LabelMap labels, const Geometry& stored) {
  return stored_grid(std::move(labels), stored);
}
Image as_stored(Image image, const Geometry& stored) {
  return stored_grid(std::move(image), stored);
}

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
