#include "data/volumes/spline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/shape.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

// The centre of output voxel i in input coordinates.
double source_of(std::int64_t i, std::int64_t from, std::int64_t to) {
  return (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
}

// Mirrors an index: 0 1 2 1 0 1 2 …
std::int64_t mirrored(std::int64_t i, std::int64_t count) {
  if (count == 1) return 0;
  const std::int64_t period = 2 * count - 2, within = ((i % period) + period) % period;
  return std::min(within, period - within);
}

double cubic(double x) {
  x = std::fabs(x);
  if (x >= 2) return 0;
  return x < 1 ? 2.0 / 3 - x * x * (2 - x) / 2 : (2 - x) * (2 - x) * (2 - x) / 6;
}

constexpr std::int64_t reach = 12;  // voxels

// The cardinal spline, 1 at 0 and 0 at every other integer: its B-spline coefficients decay by a factor z.
double cardinal(double x) {
  const double z = std::sqrt(3.0) - 2;
  const auto near = static_cast<std::int64_t>(std::floor(x));
  double sum = 0;
  for (std::int64_t k = near - 1; k <= near + 2; ++k)
    sum += -6 * z / (1 - z * z) * std::pow(z, static_cast<double>(std::abs(k))) *
           cubic(x - static_cast<double>(k));
  return sum;
}

}  // namespace

std::optional<std::size_t> coarse_axis(const Spacing& spacing) {
  const auto longest =
      static_cast<std::size_t>(std::max_element(spacing.begin(), spacing.end()) - spacing.begin());
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (axis != longest && spacing[longest] <= anisotropic * spacing[axis]) return std::nullopt;
  return longest;
}

Size3 size_at(const Geometry& grid, const Spacing& spacing) {
  Size3 size;
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(grid.size[axis]) * grid.spacing[axis] / spacing[axis]));
  return size;
}

Band cubic_band(std::int64_t from, std::int64_t to, Edge edge) {
  Band band{from, std::min(from, 2 * reach + 2), {}, {}};
  for (std::int64_t i = 0; i < to; ++i) {
    const double source = source_of(i, from, to);
    const auto near = static_cast<std::int64_t>(std::floor(source));
    const std::int64_t first = std::clamp<std::int64_t>(near - reach, 0, from - band.taps);
    std::vector<double> weights(index(band.taps));
    for (std::int64_t k = near - reach; k <= near + reach + 1; ++k)
      weights[index((edge == Edge::mirrored ? mirrored(k, from) : std::clamp<std::int64_t>(k, 0, from - 1)) -
                    first)] += cardinal(source - static_cast<double>(k));
    band.first.push_back(first);
    band.weights.insert(band.weights.end(), weights.begin(), weights.end());
  }
  return band;
}

Image resample_cubic(const Image& image, const Size3& size, std::optional<std::size_t> slices_along) {
  if (size == image.geometry.size) return image;
  const auto band = [&](std::size_t axis) {
    const std::int64_t from = image.geometry.size[axis], to = size[axis];
    if (from != to && axis != slices_along) return cubic_band(from, to);
    Band nearest{from, 1, {}, std::vector<float>(index(to), 1.0F)};
    for (std::int64_t i = 0; i < to; ++i) nearest.first.push_back((2 * i + 1) * from / (2 * to));
    return nearest;
  };
  return {resample_geometry(image.geometry, size),
          filtered(image.voxels, image.geometry.size, band(0), band(1), band(2))};
}

}  // namespace voxswap::data
