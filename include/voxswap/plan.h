// Plans the memory of a training step without running it.
#pragma once

#include <cstdint>
#include <string>

#include "voxswap/experiment.h"

namespace voxswap {

struct PlanOptions {
  bool estimate = false;  // kernel times from the device's rates instead of measurements
  std::string device;     // plan for this device instead of memory.device: "rtx4090"; implies estimate
};

struct StepPlan {
  std::string planner, device;
  std::int64_t device_bytes = 0, host_bytes = 0, disk_bytes = 0;  // peak memory of each tier
  std::int64_t swapped_bytes = 0;                                 // swapped out per step
  std::int64_t recomputed_kernels = 0;
  double step_seconds = 0;         // predicted
  double compute_seconds = 0;      // of the kernels alone, with unlimited memory
  double lower_bound_seconds = 0;  // no plan can be faster
  std::string json;                // plan.json
};

// Throws Exit::does_not_fit if no plan fits the budgets.
StepPlan plan(const Experiment& experiment, const PlanOptions& options = {});

}  // namespace voxswap
