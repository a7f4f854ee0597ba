// Measures training steps on random volumes, beside the prediction.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/box_statistics.h"
#include "pipeline/device/step_statistics.h"
#include "pipeline/plan/forecast.h"

namespace voxswap::pipeline {

struct Benchmark {
  std::string device, precision, costs, pieces;  // for people
  swap::Plan plan;
  swap::Bound bound;
  StepStatistics steps;                 // without the first, which also pays for what only happens once
  metrics::BoxStatistics step_seconds;  // of them
  double cpu_seconds = 0;               // that a step uses of the host's cores, in the mean, all threads
  double megavoxels_per_second = 0;
  // Of all nodes once, whatever the plan computes again: operations, and bytes that nodes read and write.
  double step_flops = 0, step_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s while copying
  std::int64_t arena_bytes = 0, host_bytes = 0;
  std::string plan_json;
  std::string timeline;  // of the last step, for Perfetto
};

// REQUIRES: steps of at least 1.
Benchmark benchmark(const RunOptions& options, const DataShape& data, std::int64_t steps);

}  // namespace voxswap::pipeline
