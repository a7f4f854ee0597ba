// The planners, one file each. They return a plan whatever its size; make_plan() holds it against the budget.
#pragma once

#include "swap/planner.h"

namespace voxswap {

// Nothing leaves the device: every value has one place from where it is made to where it is read last.
Plan plan_keep(const PlanRequest& request);

}  // namespace voxswap
