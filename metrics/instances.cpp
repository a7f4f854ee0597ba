#include "metrics/instances.h"

#include <map>
#include <utility>

#include "metrics/lesions.h"

namespace voxswap::metrics {

InstanceCounts count_instances(const Mask& truth, const Mask& prediction) {
  const Components lesions = connected_components(truth), found = connected_components(prediction);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> shared;
  for (std::size_t i = 0; i < lesions.labels.size(); ++i)
    if (lesions.labels[i] != 0 && found.labels[i] != 0) ++shared[{lesions.labels[i], found.labels[i]}];
  InstanceCounts counts;
  for (const auto& [pair, both] : shared) {
    const std::int64_t either = lesions.sizes[static_cast<std::size_t>(pair.first - 1)] +
                                found.sizes[static_cast<std::size_t>(pair.second - 1)] - both;
    if (2 * both <= either) continue;
    ++counts.matched;
    counts.overlaps += static_cast<double>(both) / static_cast<double>(either);
  }
  counts.missed = static_cast<std::int64_t>(lesions.sizes.size()) - counts.matched;
  counts.false_positives = static_cast<std::int64_t>(found.sizes.size()) - counts.matched;
  return counts;
}

double detection_f1(const InstanceCounts& counts, EmptyRule rule) {
  const std::int64_t all = 2 * counts.matched + counts.missed + counts.false_positives;
  if (all == 0) return empty_score(true, rule);
  return static_cast<double>(2 * counts.matched) / static_cast<double>(all);
}

double panoptic_quality(const InstanceCounts& counts, EmptyRule rule) {
  if (counts.matched == 0) return detection_f1(counts, rule);
  return detection_f1(counts, rule) * counts.overlaps / static_cast<double>(counts.matched);
}

}  // namespace voxswap::metrics
