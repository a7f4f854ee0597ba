#include "data/volumes/label_resampling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/shape.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

// An axis of the output. `nearest` has one input voxel also where two are equally near.
struct LabelAxis {
  LinearAxis linear;
  std::vector<std::size_t> nearest;
  bool blends = false;  // whether any weight is not 0
};

LabelAxis with_nearest(LinearAxis linear, Ties ties) {
  LabelAxis axis{std::move(linear), {}};
  for (std::size_t i = 0; i < axis.linear.low.size(); ++i) {
    const double weight = axis.linear.weight[i];
    const bool upper = weight > 0.5 || (weight == 0.5 && (ties == Ties::as_in_nnunet || i % 2 == 1));
    axis.nearest.push_back((upper ? axis.linear.high : axis.linear.low)[i]);
    axis.blends = axis.blends || weight != 0;
  }
  return axis;
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

// Only the nearest voxel of an axis, or both if they are equally near.
LinearAxis nearest_axis(std::int64_t from, std::int64_t to) {
  LinearAxis axis = linear_axis(from, to);
  for (std::size_t i = 0; i < axis.low.size(); ++i) {
    if (axis.weight[i] == 0.5) continue;
    if (axis.weight[i] > 0.5) axis.low[i] = axis.high[i];
    axis.weight[i] = 0;
  }
  return axis;
}

// Takes one voxel, the upper one of two equally near ones, as resample_cubic() does along thick slices.
LinearAxis one_voxel(LinearAxis axis) {
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
  std::int16_t largest(std::int16_t first) const {
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

LabelMap resample(const LabelMap& labels, const Size3& size, const std::array<LabelAxis, 3>& axes) {
  const LinearAxis &x = axes[0].linear, &y = axes[1].linear, &z = axes[2].linear;
  const Size3& from = labels.geometry.size;
  const auto row_at = [&](std::size_t j, std::size_t k) {
    return labels.voxels.data() + (k * index(from[1]) + j) * index(from[0]);
  };
  LabelMap result{resample_geometry(labels.geometry, size), {}};
  result.voxels.reserve(index(result.geometry.count()));
  Shares shares;
  for (std::size_t k = 0; k < z.low.size(); ++k) {
    for (std::size_t j = 0; j < y.low.size(); ++j) {
      const std::int16_t* const nearest = row_at(axes[1].nearest[j], axes[2].nearest[k]);
      if (!axes[0].blends && y.weight[j] == 0 && z.weight[k] == 0) {
        for (const std::size_t i : axes[0].nearest) result.voxels.push_back(nearest[i]);
        continue;
      }
      // The four rows around it, and their weights.
      std::array<const std::int16_t*, 4> rows;
      std::array<double, 4> weights;
      for (std::size_t r = 0; r < 4; ++r) {
        rows[r] = row_at((r % 2 == 0 ? y.low : y.high)[j], (r < 2 ? z.low : z.high)[k]);
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
        result.voxels.push_back(shares.largest(nearest[axes[0].nearest[i]]));
      }
    }
  }
  return result;
}

}  // namespace

LabelMap resample_nearest(const LabelMap& labels, const Size3& size) {
  std::array<LabelAxis, 3> axes;
  for (std::size_t axis = 0; axis < 3; ++axis)
    axes[axis] = with_nearest(nearest_axis(labels.geometry.size[axis], size[axis]), Ties::alternating);
  return resample(labels, size, axes);
}

LabelMap resample_shares(const LabelMap& labels, const Size3& size, std::optional<std::size_t> slices_along,
                         Ties ties) {
  std::array<LabelAxis, 3> axes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    LinearAxis one =
        (ties == Ties::as_in_nnunet ? scipy_axis : linear_axis)(labels.geometry.size[axis], size[axis]);
    if (axis == slices_along) one = one_voxel(std::move(one));
    axes[axis] = with_nearest(std::move(one), ties);
  }
  return resample(labels, size, axes);
}

}  // namespace voxswap::data
