// Planners turn a graph and its kernels' workspaces into a plan: free functions, rows of the table in
// planners/planners.cpp.
#pragma once

#include <string>
#include <vector>

#include "swap/plan.h"

namespace voxswap {

struct PlanRequest {
  const Graph* graph = nullptr;
  std::vector<std::int64_t> workspaces;  // bytes, per node
  std::int64_t budget_bytes = 0;         // of the device; 0: unlimited
  std::vector<ValueId> kept;  // values that are read from outside after the step (loss, probabilities)
};

// Throws Exit::usage for an unknown planner, Exit::does_not_fit when no plan of this planner is within the
// budget: budget, what would be needed, the node that needs it, and what would help.
Plan make_plan(const std::string& planner, const PlanRequest& request);
std::vector<std::string> planner_names();

}  // namespace voxswap
