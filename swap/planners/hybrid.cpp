// Ours: for every value keep, swap (to host or disk) or compute again, so that the step is shortest.
#include "swap/planners/planners.h"
#include "swap/planners/search.h"

namespace voxswap {

// The others' plans are among its choices; where one of them is ahead of what the search came to, it is
// taken.
Plan plan_hybrid(const PlanRequest& request) {
  Plan best = plan_keep(request);
  if (!within(request.budgets, best)) {
    best = search_plan(Digest(request), "hybrid", {.quick = request.quick});
    for (Plan (*other)(const PlanRequest&) : {plan_checkpoint, plan_tflms}) {
      if (request.quick) break;
      Plan plan = other(request);
      const bool ahead = !within(request.budgets, best) || plan.predicted_seconds < best.predicted_seconds;
      if (within(request.budgets, plan) && ahead) best = std::move(plan);
    }
  }
  best.planner = "hybrid";
  best.host_budget_bytes = request.budgets.host;
  best.disk_budget_bytes = request.budgets.disk;
  return best;
}

}  // namespace voxswap
