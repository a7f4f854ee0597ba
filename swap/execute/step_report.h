// Times of a step.
#pragma once

#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

struct StepReport {
  double seconds = 0;          // wall time of the step
  double compute_seconds = 0;  // during which kernels ran, or followed one another at once
  double stall_seconds = 0;    // during which the compute stream waited for a copy
  double busy_seconds[lane_count] = {};
  // Per instruction, in seconds from the step's begin; empty where they were not asked for and not known.
  std::vector<double> begin, end;
};

// Whether a step notes when each instruction begins and ends. That costs a device with streams of its own two
// events for each, and keeps it from taking kernels in groups (launches.h).
enum class Detail { instructions, lanes };

}  // namespace voxswap::swap
