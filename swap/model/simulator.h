// Simulates a plan: the step's time line under a cost model.
//
// Every lane (compute, each copy direction, each disk direction, exchanges) runs one instruction at a time,
// in the plan's order, after the instructions it waits for. Rates depend on concurrent activities: copies run
// at their `busy` rate while a kernel runs, kernels lose CostModel::interference seconds per byte copied, and
// devices that share a link share its rate.
#pragma once

#include <vector>

#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Several devices of one host that run the same plan from the same instant and share links and disk.
struct Sharing {
  int devices = 1;
  int devices_per_link = 1;
};

// Result for the first device, whose link is shared by the most. Seconds are infinite if a plan uses a link
// or disk without a rate.
struct Simulation {
  double seconds = 0;                    // to the end of the last instruction
  double compute_seconds = 0;            // during which a kernel runs
  double stall_seconds = 0;              // during which the compute stream waits for another
  std::vector<double> begin, end;        // per instruction
  double busy_seconds[lane_count] = {};  // per lane
  double utilization() const { return seconds > 0 ? compute_seconds / seconds : 1; }
};

// REQUIRES: a plan without violations, costs of this graph.
Simulation simulate(const Plan& plan, const CostModel& costs, const Sharing& sharing = {});

}  // namespace voxswap::swap
