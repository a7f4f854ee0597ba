// Measures training steps on random volumes and compares them with the prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/box_statistics.h"
#include "pipeline/device/epoch_benchmark.h"
#include "pipeline/plan/forecast.h"
#include "swap/execute/executor.h"

namespace voxswap::pipeline {

// Totals over the steps of one process.
struct StepStatistics {
  std::vector<double> seconds;  // of each step
  double compute_seconds = 0, stall_seconds = 0, busy_seconds[swap::lane_count] = {};

  void add(const swap::StepReport& report);
  double median_seconds() const;  // 0 without a step
  // Bytes per second of a lane while it was busy; 0 if it never was.
  double rate(swap::Lane lane, std::int64_t bytes_per_step) const;
};

// True if the measured step time is within 20 % of the predicted one (both in seconds).
bool agrees_with_plan(double measured, double predicted);
// True if it is more than 20 % below: other programs were running when costs were measured. A slower step
// proves nothing, since other programs may be running now.
bool disproves_costs(double measured, double predicted);

struct Benchmark {
  std::string device, precision, costs, slabs;  // for display
  swap::Plan plan;
  swap::Bound bound;
  StepStatistics steps;                 // without the first, which includes one-time work
  metrics::BoxStatistics step_seconds;  // over `steps`
  double cpu_seconds = 0;               // CPU time per step, mean over steps, sum over threads
  double megavoxels_per_second = 0;
  // Each node counted once, without recomputation: floating-point operations, and bytes read and written.
  double step_flops = 0, step_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s while copying
  std::int64_t arena_bytes = 0, host_bytes = 0;
  std::string plan_json;
  std::string timeline;  // of the last step, in Perfetto's format
  std::optional<EpochBenchmark> epoch{};
};

// REQUIRES: steps >= 1. Collective; the result is that of this rank. `with_epoch`: also measure an epoch's
// parts; REQUIRES: a single rank.
Benchmark benchmark(const Experiment& experiment, const RankGroups& ranks, const DataShape& data,
                    std::int64_t steps, bool with_epoch = false);

}  // namespace voxswap::pipeline
