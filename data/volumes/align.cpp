#include <algorithm>
#include <array>
#include <cmath>

#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<double, 9>;  // row-major

// The inverse by cofactors; a geometry's matrix has determinant +-1 times the voxel volume.
Matrix inverse(const Matrix& m) {
  const auto cofactor = [&](std::size_t row, std::size_t column) {
    const std::size_t r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
    return m[r1 * 3 + c1] * m[r2 * 3 + c2] - m[r1 * 3 + c2] * m[r2 * 3 + c1];
  };
  const double determinant = m[0] * cofactor(0, 0) + m[1] * cofactor(0, 1) + m[2] * cofactor(0, 2);
  Matrix result;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      result[row * 3 + column] = cofactor(column, row) / determinant;
  }
  return result;
}

Vector times(const Matrix& m, const Vector& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

Matrix index_to_world(const Geometry& geometry) {
  Matrix matrix = geometry.direction;
  for (std::size_t i = 0; i < 9; ++i) matrix[i] *= geometry.spacing[i % 3];
  return matrix;
}

// From indices of `grid` to indices of `moving`: start + step * index.
struct IndexMap {
  Vector start;
  Matrix step;

  IndexMap(const Geometry& grid, const Geometry& moving) {
    const Matrix to_moving = inverse(index_to_world(moving)), to_world = index_to_world(grid);
    Vector apart;
    for (std::size_t row = 0; row < 3; ++row) apart[row] = grid.origin[row] - moving.origin[row];
    start = times(to_moving, apart);
    for (std::size_t column = 0; column < 3; ++column) {
      const Vector moved = times(to_moving, {to_world[column], to_world[3 + column], to_world[6 + column]});
      for (std::size_t row = 0; row < 3; ++row) step[row * 3 + column] = moved[row];
    }
  }
  Vector operator()(std::int64_t x, std::int64_t y, std::int64_t z) const {
    const Vector moved =
        times(step, {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
    return {start[0] + moved[0], start[1] + moved[1], start[2] + moved[2]};
  }
};

bool inside(const Vector& at, const Size3& size) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(at[axis] >= -0.5 && at[axis] < static_cast<double>(size[axis]) - 0.5)) return false;
  }
  return true;
}

float linear(const Image& image, const Vector& at) {
  std::array<std::int64_t, 3> low, high;
  Vector weight;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t last = image.geometry.size[axis] - 1;
    const double clamped = std::clamp(at[axis], 0.0, static_cast<double>(last));
    low[axis] = static_cast<std::int64_t>(clamped);
    high[axis] = std::min(low[axis] + 1, last);
    weight[axis] = clamped - static_cast<double>(low[axis]);
  }
  const auto along_x = [&](std::int64_t y, std::int64_t z) {
    const double a = image.at(low[0], y, z), b = image.at(high[0], y, z);
    return a + weight[0] * (b - a);
  };
  const auto along_y = [&](std::int64_t z) {
    const double a = along_x(low[1], z), b = along_x(high[1], z);
    return a + weight[1] * (b - a);
  };
  const double a = along_y(low[2]), b = along_y(high[2]);
  return static_cast<float>(a + weight[2] * (b - a));
}

template <class T, class Read>
Grid<T> resample(const Geometry& grid, const Grid<T>& moving, T outside, Read read) {
  const IndexMap map(grid, moving.geometry);
  Grid<T> result{grid, std::vector<T>(static_cast<std::size_t>(grid.count()), outside)};
  T* target = result.voxels.data();
  for (std::int64_t z = 0; z < grid.size[2]; ++z) {
    for (std::int64_t y = 0; y < grid.size[1]; ++y) {
      for (std::int64_t x = 0; x < grid.size[0]; ++x, ++target) {
        const Vector at = map(x, y, z);
        if (inside(at, moving.geometry.size)) *target = read(at);
      }
    }
  }
  return result;
}

}  // namespace

Image resample_onto(const Geometry& grid, const Image& moving, float outside) {
  return resample(grid, moving, outside, [&](const Vector& at) { return linear(moving, at); });
}

LabelMap resample_onto(const Geometry& grid, const LabelMap& moving) {
  return resample(grid, moving, std::int16_t{0}, [&](const Vector& at) {
    std::array<std::int64_t, 3> nearest;
    for (std::size_t axis = 0; axis < 3; ++axis)
      nearest[axis] = static_cast<std::int64_t>(std::floor(at[axis] + 0.5));  // half up, as ITK does
    return moving.at(nearest[0], nearest[1], nearest[2]);
  });
}

}  // namespace voxswap::data
