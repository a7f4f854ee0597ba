// Works row by row: first the positions of a row, in loops that the compiler vectorises, then the eight
// voxels around each. The channels of a voxel are contiguous and share both.
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

constexpr std::int16_t mixed = std::numeric_limits<std::int16_t>::min();

// For each cell, indexed by its lower corner: the label that all eight corners share, or `mixed`. Most cells
// share one, so that one look-up suffices.
std::vector<std::int16_t> shared_labels(const std::vector<std::int16_t>& labels, const Size3& size) {
  std::vector<std::int16_t> cells(labels.size());
  const std::size_t width = index(size[0]), right = size[0] > 1 ? 1 : 0;
  for (std::int64_t z = 0; z < std::max<std::int64_t>(size[2] - 1, 1); ++z) {
    for (std::int64_t y = 0; y < std::max<std::int64_t>(size[1] - 1, 1); ++y) {
      const std::size_t start = index((z * size[1] + y) * size[0]);
      const std::int16_t* a = &labels[start];
      const std::int16_t* b = a + (size[1] > 1 ? width : 0);
      const std::int16_t* c = a + (size[2] > 1 ? width * index(size[1]) : 0);
      const std::int16_t* d = c + (b - a);
      for (std::size_t x = 0; x + right < width; ++x) {
        const std::int16_t label = a[x];
        const int differs = (a[x + right] ^ label) | (b[x] ^ label) | (b[x + right] ^ label) |
                            (c[x] ^ label) | (c[x + right] ^ label) | (d[x] ^ label) | (d[x + right] ^ label);
        cells[start + x] = differs == 0 ? label : mixed;
      }
    }
  }
  return cells;
}

// The label with the largest sum of weights; the first one wins ties.
std::int16_t largest(const std::array<std::int16_t, 8>& labels, const std::array<float, 8>& weights) {
  std::int16_t best = labels[0];
  float most = -1;
  for (std::size_t i = 0; i < 8; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < 8; ++j) sum += labels[j] == labels[i] ? weights[j] : 0;
    if (sum > most) {
      most = sum;
      best = labels[i];
    }
  }
  return best;
}

}  // namespace

bool is_symmetry(const SpatialChange& change) {
  const std::array<double, 3> none{0, 0, 0}, same{1, 1, 1};
  return change.degrees == none && change.factors == same && change.elastic == 0;
}

SpatialMap::SpatialMap(const SpatialChange& change, const Size3& size, const Spacing& spacing,
                       const std::array<Philox, 3>& random)
    : size_(size) {
  const Symmetry turned = symmetry(change.symmetry);
  std::array<double, 3> extent{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = static_cast<std::size_t>(turned.axes[i]);
    assert(size[from] == size[i]);
    spacing_[i] = spacing[from];
    extent[i] = spacing_[i] * static_cast<double>(size[i]);
  }
  const Matrix back = inverse(change);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto to = static_cast<std::size_t>(turned.axes[i]);
    const double sign = turned.flips[i] ? -1 : 1;
    offset_[to] = static_cast<double>(size[i] - 1) / 2;
    for (std::size_t j = 0; j < 3; ++j) {
      along_[to][j] = sign * back[i][j] / spacing_[i];
      index_[to][j] = along_[to][j] * spacing_[j];
      offset_[to] -= index_[to][j] * static_cast<double>(size[j] - 1) / 2;
    }
  }
  if (change.elastic == 0) return;
  for (std::size_t j = 0; j < 3; ++j)
    elastic_.emplace_back(random[j], extent, change.elastic_grid, change.elastic,
                          no_folds * change.elastic_grid);
  line_ = elastic_[0].line(0, spacing_[0], size[0]);
}

std::array<double, 3> SpatialMap::source(std::int64_t x, std::int64_t y, std::int64_t z) const {
  const std::array<double, 3> at{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
  std::array<double, 3> moved{};
  for (std::size_t j = 0; j < elastic_.size(); ++j) {
    float value = 0;
    elastic_[j].row(at[0] * spacing_[0], 1, at[1] * spacing_[1], at[2] * spacing_[2], {&value, 1});
    moved[j] = value;
  }
  std::array<double, 3> result = offset_;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 3; ++j) result[k] += index_[k][j] * at[j] + along_[k][j] * moved[j];
  return result;
}

// For each voxel of a row: the lower corner of the cell that contains its position, and the position within
// the cell.
struct SpatialMap::Row {
  explicit Row(std::size_t width) {
    for (std::size_t k = 0; k < 3; ++k) {
      cell[k].resize(width);
      part[k].resize(width);
      moved[k].resize(width);
    }
  }
  std::array<std::vector<std::int32_t>, 3> cell;
  std::array<std::vector<float>, 3> part, moved;
};

void SpatialMap::locate(std::int64_t y, std::int64_t z, Row& row) const {
  const auto height = static_cast<double>(y), depth = static_cast<double>(z);
  for (std::size_t j = 0; j < elastic_.size(); ++j)
    elastic_[j].row(line_, height * spacing_[1], depth * spacing_[2], row.moved[j]);
  const std::size_t width = index(size_[0]);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto first = static_cast<float>(offset_[k] + index_[k][1] * height + index_[k][2] * depth);
    const auto step = static_cast<float>(index_[k][0]);
    std::int32_t* cell = row.cell[k].data();
    float* part = row.part[k].data();
    for (std::size_t x = 0; x < width; ++x)
      part[x] = first + step * static_cast<float>(static_cast<std::int32_t>(x));
    for (std::size_t j = 0; j < elastic_.size(); ++j) {
      const auto factor = static_cast<float>(along_[k][j]);
      for (std::size_t x = 0; x < width; ++x) part[x] += factor * row.moved[j][x];
    }
    const auto last = static_cast<float>(size_[k] - 1);
    const auto last_cell = static_cast<std::int32_t>(std::max<std::int64_t>(size_[k] - 2, 0));
    for (std::size_t x = 0; x < width; ++x) {
      const float position = std::min(std::max(part[x], 0.0F), last);
      cell[x] = std::min(static_cast<std::int32_t>(position), last_cell);
      part[x] = position - static_cast<float>(cell[x]);
    }
  }
}

// C channels, or any number for C = 0. Both ends of a cell are weighted, so that a position exactly on a
// voxel returns that voxel bit for bit.
template <int C>
void SpatialMap::read_rows(const std::vector<float>& image, std::vector<float>& result) const {
  const std::size_t channels = C > 0 ? C : image.size() / index(size_[0] * size_[1] * size_[2]);
  const std::size_t line = index(size_[0]) * channels, plane = line * index(size_[1]);
  const std::size_t right = size_[0] > 1 ? channels : 0, below = size_[1] > 1 ? line : 0,
                    behind = size_[2] > 1 ? plane : 0;
  Row row(index(size_[0]));
  const std::int32_t *xs = row.cell[0].data(), *ys = row.cell[1].data(), *zs = row.cell[2].data();
  const float *us = row.part[0].data(), *vs = row.part[1].data(), *ws = row.part[2].data();
  float* target = result.data();
  for (std::int64_t z = 0; z < size_[2]; ++z) {
    for (std::int64_t y = 0; y < size_[1]; ++y) {
      locate(y, z, row);
      for (std::size_t x = 0; x < index(size_[0]); ++x, target += channels) {
        const float* near =
            image.data() + index(zs[x]) * plane + index(ys[x]) * line + index(xs[x]) * channels;
        const float* far = near + behind;
        const float u = us[x], v = vs[x], w = ws[x], u0 = 1 - u, v0 = 1 - v, w0 = 1 - w;
        const auto at = [&](std::size_t c) {
          const float a = near[c] * u0 + near[right + c] * u;
          const float b = near[below + c] * u0 + near[below + right + c] * u;
          const float d = far[c] * u0 + far[right + c] * u;
          const float e = far[below + c] * u0 + far[below + right + c] * u;
          return (a * v0 + b * v) * w0 + (d * v0 + e * v) * w;
        };
        if constexpr (C > 0) {
          float lanes[C];  // on the stack, where nothing aliases: channels become vector lanes
          for (std::size_t c = 0; c < C; ++c) lanes[c] = at(c);
          std::copy(lanes, lanes + C, target);
        } else {
          for (std::size_t c = 0; c < channels; ++c) target[c] = at(c);
        }
      }
    }
  }
}

void SpatialMap::read(const std::vector<float>& image, std::int64_t channels,
                      std::vector<float>& result) const {
  assert(static_cast<std::int64_t>(image.size()) == size_[0] * size_[1] * size_[2] * channels &&
         &image != &result);
  result.resize(image.size());
  if (channels == 1) return read_rows<1>(image, result);
  if (channels == 2) return read_rows<2>(image, result);
  if (channels == 4) return read_rows<4>(image, result);
  read_rows<0>(image, result);
}

std::vector<std::int16_t> SpatialMap::read(const std::vector<std::int16_t>& labels) const {
  const std::vector<std::int16_t> cells = shared_labels(labels, size_);
  const std::size_t line = index(size_[0]), plane = line * index(size_[1]);
  const std::size_t right = size_[0] > 1 ? 1 : 0, below = size_[1] > 1 ? line : 0,
                    behind = size_[2] > 1 ? plane : 0;
  std::vector<std::int16_t> result(labels.size());
  Row row(line);
  std::int16_t* target = result.data();
  for (std::int64_t z = 0; z < size_[2]; ++z) {
    for (std::int64_t y = 0; y < size_[1]; ++y) {
      locate(y, z, row);
      for (std::size_t x = 0; x < line; ++x) {
        const std::size_t at =
            index(row.cell[2][x]) * plane + index(row.cell[1][x]) * line + index(row.cell[0][x]);
        std::int16_t label = cells[at];
        if (label == mixed) {
          std::array<std::int16_t, 8> corners;
          std::array<float, 8> weights;
          for (std::size_t i = 0; i < 8; ++i) {
            corners[i] = labels[at + (i & 1 ? right : 0) + (i & 2 ? below : 0) + (i & 4 ? behind : 0)];
            const float u = row.part[0][x], v = row.part[1][x], w = row.part[2][x];
            weights[i] = (i & 1 ? u : 1 - u) * (i & 2 ? v : 1 - v) * (i & 4 ? w : 1 - w);
          }
          label = largest(corners, weights);
        }
        *target++ = label;
      }
    }
  }
  return result;
}

}  // namespace voxswap::data
