#include "metrics/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "metrics/box_statistics.h"

namespace voxswap::metrics {

namespace {

std::vector<double> distances_to(const Mask& other, const Mask& from, const Spacing& spacing) {
  const std::vector<double> squared = squared_distances(other, spacing);
  std::vector<double> distances;
  for (std::size_t i = 0; i < squared.size(); ++i) {
    if (from.voxels[i] != 0) distances.push_back(std::sqrt(squared[i]));
  }
  return distances;
}

bool any_empty(const SurfaceDistances& distances) {
  return distances.from_truth.empty() || distances.from_prediction.empty();
}

bool both_empty(const SurfaceDistances& distances) {
  return distances.from_truth.empty() && distances.from_prediction.empty();
}

constexpr double rounding = 1 + 1e-6;  // voxel sizes in headers are 32-bit numbers

}  // namespace

Mask surface(const Mask& region) {
  static const std::vector<Size3> faces = neighbours(1);
  Mask result;
  result.size = region.size;
  result.voxels.resize(region.voxels.size());
  // The missing planes on both sides of a single slice do not make its voxels surface voxels.
  const std::size_t needed = faces.size() - (region.in_slice ? 2 : 0);
  for (std::size_t i = 0; i < region.voxels.size(); ++i) {
    if (region.voxels[i] == 0) continue;
    std::size_t inside = 0;
    for_neighbours(i, region.size, faces, [&](std::size_t j) { inside += region.voxels[j]; });
    result.voxels[i] = inside < needed;
  }
  return result;
}

SurfaceDistances surface_distances(const Mask& truth, const Mask& prediction, const Spacing& spacing) {
  const Mask of_truth = surface(truth), of_prediction = surface(prediction);
  return {distances_to(of_prediction, of_truth, spacing), distances_to(of_truth, of_prediction, spacing)};
}

double empty_distance(bool both_empty, EmptyRule rule) {
  if (rule == EmptyRule::nnunet) return std::numeric_limits<double>::quiet_NaN();
  return both_empty ? 0 : 373.12866;
}

double hd95(const SurfaceDistances& distances, EmptyRule rule) {
  if (any_empty(distances)) return empty_distance(both_empty(distances), rule);
  return std::max(quantile(distances.from_truth, 0.95), quantile(distances.from_prediction, 0.95));
}

double hausdorff(const SurfaceDistances& distances, EmptyRule rule) {
  if (any_empty(distances)) return empty_distance(both_empty(distances), rule);
  return std::max(*std::max_element(distances.from_truth.begin(), distances.from_truth.end()),
                  *std::max_element(distances.from_prediction.begin(), distances.from_prediction.end()));
}

double average_surface_distance(const SurfaceDistances& distances, EmptyRule rule) {
  if (any_empty(distances)) return empty_distance(both_empty(distances), rule);
  double sum = 0;
  for (const auto* side : {&distances.from_truth, &distances.from_prediction})
    sum = std::accumulate(side->begin(), side->end(), sum);
  return sum / static_cast<double>(distances.from_truth.size() + distances.from_prediction.size());
}

double surface_dice(const SurfaceDistances& distances, double tolerance, EmptyRule rule) {
  if (any_empty(distances)) return empty_score(both_empty(distances), rule);
  const double limit = tolerance * rounding;
  std::int64_t within = 0;
  for (const auto* side : {&distances.from_truth, &distances.from_prediction})
    within += std::count_if(side->begin(), side->end(), [&](double distance) { return distance <= limit; });
  return static_cast<double>(within) /
         static_cast<double>(distances.from_truth.size() + distances.from_prediction.size());
}

namespace {

Mask rim(const Mask& region, double width, const Spacing& spacing) {
  const std::vector<double> distances = squared_distances(surface(region), spacing);
  Mask result = region;
  for (std::size_t i = 0; i < result.voxels.size(); ++i)
    if (distances[i] > width * width * rounding * rounding) result.voxels[i] = 0;
  return result;
}

}  // namespace

Overlap rim_overlap(const Mask& truth, const Mask& prediction, double width, const Spacing& spacing) {
  return overlap(rim(truth, width, spacing), rim(prediction, width, spacing));
}

double boundary_iou(const Overlap& rims, EmptyRule rule) {
  const std::int64_t either = rims.truth + rims.prediction - rims.intersection;
  if (either == 0) return empty_score(true, rule);
  return static_cast<double>(rims.intersection) / static_cast<double>(either);
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Transforms one line of voxels at a time; holds the buffers for its parabolas.
class Line {
 public:
  Line(std::size_t length, double spacing)
      : spacing_(spacing), values_(length), apex_(length), begin_(length + 1) {}

  // Updates the squared distances at `first`, `first + stride`, … to include this axis.
  void pass(double* first, std::size_t stride) {
    const std::size_t length = values_.size();
    for (std::size_t i = 0; i < length; ++i) values_[i] = first[i * stride];
    if (!build_envelope()) return;
    std::size_t k = 0;
    for (std::size_t i = 0; i < length; ++i) {
      while (k + 1 < count_ && begin_[k + 1] < static_cast<double>(i)) ++k;
      const double away = (static_cast<double>(i) - static_cast<double>(apex_[k])) * spacing_;
      first[i * stride] = values_[apex_[k]] + away * away;
    }
  }

 private:
  // Computes the intervals in which each parabola is lowest. False if all are infinite.
  bool build_envelope() {
    count_ = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == infinity) continue;
      double begin = -infinity;
      while (count_ > 0) {
        begin = crossing(apex_[count_ - 1], i);
        if (begin > begin_[count_ - 1]) break;
        --count_;
        begin = -infinity;
      }
      apex_[count_] = i;
      begin_[count_++] = begin;
    }
    return count_ > 0;
  }

  // Position, in voxels, from which the parabola of `right` is below that of `left`.
  double crossing(std::size_t left, std::size_t right) const {
    const double a = static_cast<double>(left), b = static_cast<double>(right);
    return (a + b) / 2 + (values_[right] - values_[left]) / (2 * spacing_ * spacing_ * (b - a));
  }

  double spacing_;
  std::vector<double> values_;
  std::vector<std::size_t> apex_;
  std::vector<double> begin_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<double> squared_distances(const Mask& mask, const Spacing& spacing) {
  std::vector<double> distances(mask.voxels.size());
  for (std::size_t i = 0; i < distances.size(); ++i) distances[i] = mask.voxels[i] != 0 ? 0 : infinity;
  const auto nx = static_cast<std::size_t>(mask.size[0]), ny = static_cast<std::size_t>(mask.size[1]),
             nz = static_cast<std::size_t>(mask.size[2]);
  Line x(nx, spacing[0]), y(ny, spacing[1]), z(nz, spacing[2]);
  for (std::size_t row = 0; row < ny * nz; ++row) x.pass(&distances[row * nx], 1);
  for (std::size_t plane = 0; plane < nz; ++plane) {
    for (std::size_t i = 0; i < nx; ++i) y.pass(&distances[plane * nx * ny + i], nx);
  }
  for (std::size_t i = 0; i < nx * ny; ++i) z.pass(&distances[i], nx * ny);
  return distances;
}

}  // namespace voxswap::metrics
