#include "data/volumes/transforms.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/shape.h"

namespace voxswap::data {

namespace {

// Moves the origin by a distance along the grid's own axes, in voxels.
void shift_origin(Geometry& geometry, const std::array<double, 3>& voxels) {
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      geometry.origin[row] += geometry.direction[row * 3 + axis] * geometry.spacing[axis] * voxels[axis];
    }
  }
}

template <class T>
Grid<T> crop_grid(const Grid<T>& grid, const VoxelBox& box) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    assert(box.start[axis] >= 0 && box.size[axis] >= 1 &&
           box.start[axis] + box.size[axis] <= grid.geometry.size[axis]);
  }
  Grid<T> result;
  result.geometry = crop_geometry(grid.geometry, box);
  result.voxels.reserve(index(result.geometry.count()));
  for (std::int64_t z = 0; z < box.size[2]; ++z) {
    for (std::int64_t y = 0; y < box.size[1]; ++y) {
      const T* row = &grid.at(box.start[0], box.start[1] + y, box.start[2] + z);
      result.voxels.insert(result.voxels.end(), row, row + box.size[0]);
    }
  }
  return result;
}

}  // namespace

Geometry crop_geometry(const Geometry& geometry, const VoxelBox& box) {
  Geometry result = geometry;
  result.size = box.size;
  shift_origin(result, {static_cast<double>(box.start[0]), static_cast<double>(box.start[1]),
                        static_cast<double>(box.start[2])});
  return result;
}

Geometry resample_geometry(const Geometry& geometry, const Size3& size) {
  Geometry result = geometry;
  std::array<double, 3> first;  // the old grid's index of the new voxel (0,0,0)
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double ratio = static_cast<double>(geometry.size[axis]) / static_cast<double>(size[axis]);
    first[axis] = 0.5 * ratio - 0.5;
  }
  shift_origin(result, first);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.spacing[axis] =
        geometry.spacing[axis] * static_cast<double>(geometry.size[axis]) / static_cast<double>(size[axis]);
  }
  result.size = size;
  return result;
}

namespace {

// Without a branch per voxel.
bool any_other_than(float empty, const float* row, std::int64_t count) {
  std::uint32_t any = 0;
  for (std::int64_t i = 0; i < count; ++i) any |= row[i] != empty ? 1U : 0U;
  return any != 0;
}

}  // namespace

bool has_foreground(const std::vector<Image>& channels, std::span<const float> background) {
  for (std::size_t c = 0; c < channels.size(); ++c)
    if (std::ranges::any_of(channels[c].voxels, [&](float value) { return value != background[c]; }))
      return true;
  return false;
}

VoxelBox foreground_box(const std::vector<Image>& channels, std::span<const float> background) {
  assert(!channels.empty() && background.size() == channels.size());
  const Size3 size = channels.front().geometry.size;
  Size3 low = size, high{-1, -1, -1};
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const float empty = background[c];
    for (std::int64_t z = 0; z < size[2]; ++z) {
      for (std::int64_t y = 0; y < size[1]; ++y) {
        const float* row = &channels[c].at(0, y, z);
        // A row that crosses the current box can extend it only along x.
        const bool crosses = y >= low[1] && y <= high[1] && z >= low[2] && z <= high[2];
        if (!crosses && !any_other_than(empty, row, size[0])) continue;
        std::int64_t first = 0, last = size[0] - 1;
        while (first < low[0] && row[first] == empty) ++first;
        while (last > high[0] && row[last] == empty) --last;
        low = {first, std::min(low[1], y), std::min(low[2], z)};
        high = {last, std::max(high[1], y), std::max(high[2], z)};
      }
    }
  }
  if (high[0] < 0) return {{0, 0, 0}, size};
  VoxelBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.start[axis] = std::max<std::int64_t>(0, low[axis] - 1);
    box.size[axis] = std::min(size[axis] - 1, high[axis] + 1) - box.start[axis] + 1;
  }
  return box;
}

float corner_value(const Image& image) {
  return image.voxels.front();
}

bool constant_corners(const Image& image) {
  const Size3& size = image.geometry.size;
  for (int corner = 1; corner < 8; ++corner) {
    const float value =
        image.at(corner & 1 ? size[0] - 1 : 0, corner & 2 ? size[1] - 1 : 0, corner & 4 ? size[2] - 1 : 0);
    if (value != image.voxels.front()) return false;
  }
  return true;
}

float outside_value(const Image& image) {
  return constant_corners(image) ? corner_value(image)
                                 : *std::min_element(image.voxels.begin(), image.voxels.end());
}

Image crop(const Image& image, const VoxelBox& box) {
  return crop_grid(image, box);
}
LabelMap crop(const LabelMap& labels, const VoxelBox& box) {
  return crop_grid(labels, box);
}

// Row by row: first blend the four input rows around an output row, then interpolate along x. Computed in
// double and rounded once, so that the result agrees with ITK's to about the last bit.
LinearAxis linear_axis(std::int64_t from, std::int64_t to) {
  LinearAxis axis;
  for (std::int64_t i = 0; i < to; ++i) {
    const double exact =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double source = std::clamp(exact, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<std::int64_t>(source);
    axis.low.push_back(index(low));
    axis.high.push_back(index(std::min(low + 1, from - 1)));
    axis.weight.push_back(source - static_cast<double>(low));
  }
  return axis;
}

namespace {

// Blends the four rows of `row` numbers around output row (y, z) of a slab with `rows` rows per plane.
void blend_rows(std::span<const float> slab, std::int64_t rows, std::size_t row, std::int64_t slab_first,
                const std::array<LinearAxis, 3>& axes, std::size_t y, std::size_t z,
                std::vector<double>& blend) {
  const LinearAxis &along_y = axes[1], &along_z = axes[2];
  const double wy = along_y.weight[y], wz = along_z.weight[z];
  const auto at = [&](std::size_t from_y, std::size_t from_z) {
    return slab.data() + ((from_z - index(slab_first)) * index(rows) + from_y) * row;
  };
  const float *a = at(along_y.low[y], along_z.low[z]), *b = at(along_y.high[y], along_z.low[z]),
              *c = at(along_y.low[y], along_z.high[z]), *d = at(along_y.high[y], along_z.high[z]);
  blend.resize(row);
  for (std::size_t x = 0; x < row; ++x) {
    const double near = a[x] + wy * (static_cast<double>(b[x]) - a[x]);
    const double far = c[x] + wy * (static_cast<double>(d[x]) - c[x]);
    blend[x] = near + wz * (far - near);
  }
}

}  // namespace

void resample_row(std::span<const float> slab, const Size3& from, std::int64_t channels,
                  std::int64_t slab_first, const std::array<LinearAxis, 3>& axes, std::size_t y,
                  std::size_t z, std::vector<double>& blend, std::span<float> row) {
  const std::size_t voxel = index(channels);
  blend_rows(slab, from[1], index(from[0]) * voxel, slab_first, axes, y, z, blend);
  const LinearAxis& along = axes[0];
  float* target = row.data();
  for (std::size_t x = 0; x < along.low.size(); ++x, target += voxel) {
    const double *left = &blend[along.low[x] * voxel], *right = &blend[along.high[x] * voxel];
    const double weight = along.weight[x];
    for (std::size_t c = 0; c < voxel; ++c)
      target[c] = static_cast<float>(left[c] + weight * (right[c] - left[c]));
  }
}

Image resample_linear(const Image& image, const Size3& size) {
  const Size3& from = image.geometry.size;
  const std::array<LinearAxis, 3> axes{linear_axis(from[0], size[0]), linear_axis(from[1], size[1]),
                                       linear_axis(from[2], size[2])};
  Image result{resample_geometry(image.geometry, size), std::vector<float>(index(voxels_in(size)))};
  const LinearAxis& along_x = axes[0];
  std::vector<double> blend;
  float* target = result.voxels.data();
  for (std::size_t z = 0; z < index(size[2]); ++z) {
    for (std::size_t y = 0; y < index(size[1]); ++y, target += size[0]) {
      blend_rows(image.voxels, from[1], index(from[0]), 0, axes, y, z, blend);
      for (std::size_t x = 0; x < index(size[0]); ++x) {
        const double left = blend[along_x.low[x]], right = blend[along_x.high[x]];
        target[x] = static_cast<float>(left + along_x.weight[x] * (right - left));
      }
    }
  }
  return result;
}

std::vector<float> interleaved(const std::vector<Image>& images) {
  const std::size_t channels = images.size(), count = images.front().voxels.size();
  std::vector<float> result, block;
  result.reserve(count * channels);
  for (std::size_t first = 0; first < count; first += 1024) {
    const std::size_t voxels = std::min<std::size_t>(1024, count - first);
    block.resize(voxels * channels);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < voxels; ++i) block[i * channels + c] = images[c].voxels[first + i];
    result.insert(result.end(), block.begin(), block.end());
  }
  return result;
}

Symmetry symmetry(int number) {
  assert(number >= 0 && number < 48);
  constexpr std::array<std::array<int, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  return {orders[index(number / 8)], {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0}};
}

std::vector<int> allowed_symmetries(const Size3& size) {
  std::vector<int> allowed;
  for (int number = 0; number < 48; ++number) {
    const Symmetry candidate = symmetry(number);
    bool keeps = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
      keeps = keeps && size[index(candidate.axes[axis])] == size[axis];
    if (keeps) allowed.push_back(number);
  }
  return allowed;
}

template <class T>
std::vector<T> apply(const Symmetry& symmetry, const std::vector<T>& voxels, const Size3& size,
                     std::int64_t channels) {
  assert(static_cast<std::int64_t>(voxels.size()) == voxels_in(size) * channels);
  const Size3 strides{channels, size[0] * channels, size[0] * size[1] * channels};
  Size3 extent, step;
  std::int64_t start = 0;  // offset in the input of the output's first voxel
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t source = index(symmetry.axes[axis]);
    extent[axis] = size[source];
    step[axis] = symmetry.flips[axis] ? -strides[source] : strides[source];
    if (symmetry.flips[axis]) start += (size[source] - 1) * strides[source];
  }
  std::vector<T> result(voxels.size());
  T* target = result.data();
  for (std::int64_t z = 0; z < extent[2]; ++z) {
    for (std::int64_t y = 0; y < extent[1]; ++y) {
      const T* source = voxels.data() + start + z * step[2] + y * step[1];
      for (std::int64_t x = 0; x < extent[0]; ++x, source += step[0], target += channels) {
        for (std::int64_t c = 0; c < channels; ++c) target[c] = source[c];
      }
    }
  }
  return result;
}

template std::vector<float> apply(const Symmetry&, const std::vector<float>&, const Size3&, std::int64_t);
template std::vector<std::uint8_t> apply(const Symmetry&, const std::vector<std::uint8_t>&, const Size3&,
                                         std::int64_t);
template std::vector<std::int16_t> apply(const Symmetry&, const std::vector<std::int16_t>&, const Size3&,
                                         std::int64_t);

}  // namespace voxswap::data
