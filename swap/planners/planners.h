// The planners, one file each. They return a plan of any size; make_plan() checks it against the budgets.
#pragma once

#include "swap/planners/planner.h"

namespace voxswap::swap {

Plan plan_keep(const PlanRequest& request);
Plan plan_unified(const PlanRequest& request);
Plan plan_lms_threshold(const PlanRequest& request);
Plan plan_tflms(const PlanRequest& request);
Plan plan_checkpoint(const PlanRequest& request);
Plan plan_hybrid(const PlanRequest& request);

bool within(const Budgets& budgets, const Plan& plan);

}  // namespace voxswap::swap
