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

// linear_axis() with positions rounded as in scipy.ndimage.zoom.
LinearAxis scipy_axis(std::int64_t from, std::int64_t to) {
  LinearAxis axis = linear_axis(from, to);
  const double zoom = static_cast<double>(from) / static_cast<double>(to);
  for (std::size_t i = 0; i < axis.low.size(); ++i) {
    const double source =
        std::clamp((static_cast<double>(i) + 0.5) * zoom - 0.5, 0.0, static_cast<double>(from - 1));
    axis.low[i] = static_cast<std::size_t>(source);
    axis.high[i] = std::min(axis.low[i] + 1, static_cast<std::size_t>(from - 1));
    axis.weight[i] = source - std::floor(source);
  }
  return axis;
}

LinearAxis nearest_only(LinearAxis axis) {
  for (std::size_t i = 0; i < axis.low.size(); ++i) {
    if (axis.weight[i] >= 0.5) axis.low[i] = axis.high[i];
    axis.weight[i] = 0;
  }
  return axis;
}

// Weights per label among the eight voxels around a position.
class Shares {
 public:
  void clear() { count_ = 0; }
  void add(std::int16_t label, double share) {
    if (share == 0) return;
    std::size_t i = 0;
    while (i < count_ && labels_[i] != label) ++i;
    if (i == count_) labels_[count_++] = label, shares_[i] = 0;
    shares_[i] += share;
  }
  // Among equals `first`, otherwise the smallest.
  std::int16_t largest(std::optional<std::int16_t> first) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count_; ++i)
      if (shares_[i] > shares_[best] || (shares_[i] == shares_[best] && first != labels_[best] &&
                                         (first == labels_[i] || labels_[i] < labels_[best])))
        best = i;
    return labels_[best];
  }

 private:
  std::array<std::int16_t, 8> labels_{};
  std::array<double, 8> shares_{};
  std::size_t count_ = 0;
};

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

LabelMap resample_shares(const LabelMap& labels, const Size3& size, std::optional<std::size_t> slices_along,
                         Ties ties) {
  std::array<LinearAxis, 3> axes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes[axis] = (ties == Ties::nearest ? scipy_axis : linear_axis)(labels.geometry.size[axis], size[axis]);
    if (axis == slices_along) axes[axis] = nearest_only(std::move(axes[axis]));
  }
  const auto& [x, y, z] = axes;
  const std::size_t width = index(labels.geometry.size[0]), height = index(labels.geometry.size[1]);
  LabelMap result{resample_geometry(labels.geometry, size), {}};
  result.voxels.reserve(index(result.geometry.count()));
  Shares shares;
  for (std::size_t k = 0; k < z.low.size(); ++k) {
    for (std::size_t j = 0; j < y.low.size(); ++j) {
      // The four rows around it, and their weights.
      std::array<const std::int16_t*, 4> rows;
      std::array<double, 4> weights;
      for (std::size_t r = 0; r < 4; ++r) {
        rows[r] = labels.voxels.data() +
                  ((r < 2 ? z.low[k] : z.high[k]) * height + (r % 2 == 0 ? y.low[j] : y.high[j])) * width;
        weights[r] = (r < 2 ? 1 - z.weight[k] : z.weight[k]) * (r % 2 == 0 ? 1 - y.weight[j] : y.weight[j]);
      }
      for (std::size_t i = 0; i < x.low.size(); ++i) {
        const std::int16_t first = rows[0][x.low[i]];
        if (std::all_of(rows.begin(), rows.end(), [&](const std::int16_t* row) {
              return row[x.low[i]] == first && row[x.high[i]] == first;
            })) {  // almost everywhere
          result.voxels.push_back(first);
          continue;
        }
        shares.clear();
        for (std::size_t r = 0; r < 4; ++r) {
          shares.add(rows[r][x.low[i]], weights[r] * (1 - x.weight[i]));
          shares.add(rows[r][x.high[i]], weights[r] * x.weight[i]);
        }
        const std::int16_t* row = rows[(z.weight[k] < 0.5 ? 0 : 2) + (y.weight[j] < 0.5 ? 0 : 1)];
        const std::int16_t nearest = row[x.weight[i] < 0.5 ? x.low[i] : x.high[i]];
        result.voxels.push_back(
            shares.largest(ties == Ties::nearest ? std::optional(nearest) : std::nullopt));
      }
    }
  }
  return result;
}

}  // namespace voxswap::data
