#include "metrics/boundary.h"

#include "metrics/distance_map.h"
#include "metrics/surface.h"

namespace voxswap::metrics {

namespace {

Mask rim(const Mask& region, double width, const Spacing& spacing) {
  const std::vector<double> distances = squared_distances(surface(region), spacing);
  constexpr double rounding = 1 + 1e-9;  // what is the width but for that is within
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

}  // namespace voxswap::metrics
