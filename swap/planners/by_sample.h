// Plans for steps with several samples in sequence: the decisions for one sample are used for all, so the
// search takes as long as for one.
#pragma once

#include <string>

#include "swap/planners/decisions.h"
#include "swap/planners/scheduling.h"
#include "swap/planners/search.h"

namespace voxswap::swap {

// As search_plan(). REQUIRES: the problem has the step of one sample.
Plan search_plan_by_sample(const StepProblem& problem, const std::string& planner,
                           const SearchOptions& options);

// Whether the plan takes little longer than its nodes alone, so that no other plan gains much.
bool is_near_compute_time(const GraphFacts& facts, const Plan& plan);

}  // namespace voxswap::swap
