// Simulates a plan: the step's time line under a cost model.
//
// Compute, each copy direction, each disk direction and the exchange with other ranks is a resource that does
// one instruction at a time, in the plan's order, after the instructions it waits for. Rates change as others
// start and end: copies run at their `busy` rate while a kernel runs, kernels lose CostModel::interference
// seconds per byte copied, and devices that share a link share its rate.
#pragma once

#include <vector>

#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Several devices of one host that each begin the same plan at the same instant, and share its disk.
struct Sharing {
  int devices = 1;
  int devices_per_link = 1;
};

// Of the first device, whose link is shared by as many as share any. Seconds are infinite where a plan uses a
// link or disk without a rate.
struct Simulation {
  double seconds = 0;                    // until the last instruction is done
  double compute_seconds = 0;            // during which a kernel runs
  double stall_seconds = 0;              // during which the compute stream waits for another
  std::vector<double> begin, end;        // per instruction
  double busy_seconds[lane_count] = {};  // per lane
  double utilization() const { return seconds > 0 ? compute_seconds / seconds : 1; }
};

// REQUIRES: a plan without violations, costs of this graph.
Simulation simulate(const Plan& plan, const CostModel& costs, const Sharing& sharing = {});

}  // namespace voxswap::swap
