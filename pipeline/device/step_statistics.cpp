#include "pipeline/device/step_statistics.h"

#include <algorithm>

namespace voxswap::pipeline {

void StepStatistics::add(const swap::StepReport& report) {
  seconds.push_back(report.seconds);
  compute_seconds += report.compute_seconds;
  stall_seconds += report.stall_seconds;
  for (std::size_t lane = 0; lane < swap::lane_count; ++lane) busy_seconds[lane] += report.busy_seconds[lane];
}

double StepStatistics::median_seconds() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double StepStatistics::rate(swap::Lane lane, std::int64_t bytes_per_step) const {
  const double busy = busy_seconds[static_cast<std::size_t>(lane)];
  return busy > 0 ? static_cast<double>(bytes_per_step) * static_cast<double>(seconds.size()) / busy : 0;
}

}  // namespace voxswap::pipeline
