// Sums over the steps of a process.
#pragma once

#include <cstdint>
#include <vector>

#include "swap/execute/executor.h"

namespace voxswap::pipeline {

struct StepStatistics {
  std::vector<double> seconds;  // of each step
  double compute_seconds = 0, stall_seconds = 0, busy_seconds[swap::lane_count] = {};

  void add(const swap::StepReport& report);
  double median_seconds() const;  // 0 without a step
  // Bytes per second that a lane moved while it was at it; 0 when it never was.
  double rate(swap::Lane lane, std::int64_t bytes_per_step) const;
};

}  // namespace voxswap::pipeline
