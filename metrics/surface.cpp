#include "metrics/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "metrics/box_statistics.h"
#include "metrics/distance_map.h"

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

}  // namespace

Mask surface(const Mask& region) {
  static const std::vector<Extent> faces = neighbours(1);
  Mask result;
  result.size = region.size;
  result.voxels.resize(region.voxels.size());
  // What lies above and below an image is nothing, not background.
  const auto& [nx, ny, nz] = region.size;
  const std::size_t needed = nz == 1 && nx > 1 && ny > 1 ? 4 : faces.size();
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
  const double limit = tolerance * (1 + 1e-9);
  std::int64_t within = 0;
  for (const auto* side : {&distances.from_truth, &distances.from_prediction})
    within += std::count_if(side->begin(), side->end(), [&](double distance) { return distance <= limit; });
  return static_cast<double>(within) /
         static_cast<double>(distances.from_truth.size() + distances.from_prediction.size());
}

}  // namespace voxswap::metrics
