// Measures training steps on random volumes, beside the prediction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/box_statistics.h"
#include "pipeline/plan/forecast.h"
#include "swap/execute/executor.h"

namespace voxswap::pipeline {

// Sums over the steps of a process.
struct StepStatistics {
  std::vector<double> seconds;  // of each step
  double compute_seconds = 0, stall_seconds = 0, busy_seconds[swap::lane_count] = {};

  void add(const swap::StepReport& report);
  double median_seconds() const;  // 0 without a step
  // Bytes per second that a lane moved while it was at it; 0 when it never was.
  double rate(swap::Lane lane, std::int64_t bytes_per_step) const;
};

// Whether a measured step time is within a fifth of the predicted one, in seconds.
bool agrees_with_plan(double measured, double predicted);
// Whether it is more than a fifth below: the costs were measured beside other programs. A step that is slower
// may be so because others run now.
bool disproves_costs(double measured, double predicted);

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

// REQUIRES: steps of at least 1. All ranks call it; what it returns is of this one.
Benchmark benchmark(const RunOptions& options, const DataShape& data, std::int64_t steps);

}  // namespace voxswap::pipeline
