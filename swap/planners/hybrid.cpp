// Ours: for every value keep, swap (to host or disk) or compute again, so that the step is shortest.
#include "swap/planners/planners.h"
#include "swap/planners/search.h"

namespace voxswap {

Plan plan_hybrid(const PlanRequest& request) {
  Plan kept = plan_keep(request);
  if (within(request.budgets, kept)) {
    kept.planner = "hybrid";
    return kept;
  }
  return search_plan(Digest(request), "hybrid", {.quick = request.quick});
}

}  // namespace voxswap
