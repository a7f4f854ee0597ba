// The table of metrics.
#include "metrics/metrics.h"

#include "base/error.h"

namespace voxswap {

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> table = {
      {"dice", [](const MetricInput& input) { return dice(input.overlap, input.empty); }},
      {"sensitivity", [](const MetricInput& input) { return sensitivity(input.overlap, input.empty); }},
      {"specificity",
       [](const MetricInput& input) { return specificity(input.overlap, input.voxels, input.empty); }},
  };
  return table;
}

const Metric& metric(const std::string& name) {
  for (const Metric& candidate : metrics()) {
    if (name == candidate.name) return candidate;
  }
  const std::string near = nearest(name, metric_names());
  fail(Exit::usage, "unknown metric '{}': {}expected one of {}", name,
       near.empty() ? "" : format("did you mean '{}'? ", near), join(metric_names(), ", "));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& candidate : metrics()) names.emplace_back(candidate.name);
  return names;
}

}  // namespace voxswap
