#include "data/augment/spatial_map.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/shape.h"

namespace voxswap::data {

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
  return result;
}

// Right-handed rotation about one axis.
Matrix turn(std::size_t axis, double degrees) {
  const double angle = degrees * 3.14159265358979323846 / 180, c = std::cos(angle), s = std::sin(angle);
  const std::size_t i = (axis + 1) % 3, j = (axis + 2) % 3;
  Matrix result{};
  result[axis][axis] = 1;
  result[i][i] = result[j][j] = c;
  result[j][i] = s;
  result[i][j] = -s;
  return result;
}

// Maps millimetres from the centre after the change to millimetres before it.
Matrix inverse(const SpatialChange& change) {
  const Matrix rotation =
      product(turn(2, change.degrees[2]), product(turn(1, change.degrees[1]), turn(0, change.degrees[0])));
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = rotation[j][i] / change.factors[i];
  return result;
}

constexpr double no_folds = 0.4;

}  // namespace

SpatialMap::SpatialMap(const SpatialChange& change, const Size3& size, const Spacing& before,
                       const std::array<Philox, 3>& random) {
  const Symmetry turned = symmetry(change.symmetry);
  std::array<double, 3> extent{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = static_cast<std::size_t>(turned.axes[i]);
    assert(size[from] == size[i]);
    spacing[i] = before[from];
    extent[i] = spacing[i] * static_cast<double>(size[i]);
  }
  const Matrix back = inverse(change);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto to = static_cast<std::size_t>(turned.axes[i]);
    const double sign = turned.flips[i] ? -1 : 1;
    offset[to] = static_cast<double>(size[i] - 1) / 2;
    for (std::size_t j = 0; j < 3; ++j) {
      along[to][j] = sign * back[i][j] / spacing[i];
      index[to][j] = along[to][j] * spacing[j];
      offset[to] -= index[to][j] * static_cast<double>(size[j] - 1) / 2;
    }
  }
  if (change.elastic == 0) return;
  for (std::size_t j = 0; j < 3; ++j)
    elastic.emplace_back(random[j], extent, change.elastic_grid, change.elastic,
                         no_folds * change.elastic_grid);
}

std::array<double, 3> SpatialMap::source(std::int64_t x, std::int64_t y, std::int64_t z) const {
  const std::array<double, 3> at{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
  std::array<double, 3> moved{};
  for (std::size_t j = 0; j < elastic.size(); ++j) {
    float value = 0;
    elastic[j].row(at[0] * spacing[0], 1, at[1] * spacing[1], at[2] * spacing[2], {&value, 1});
    moved[j] = value;
  }
  std::array<double, 3> result = offset;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 3; ++j) result[k] += index[k][j] * at[j] + along[k][j] * moved[j];
  return result;
}

}  // namespace voxswap::data
