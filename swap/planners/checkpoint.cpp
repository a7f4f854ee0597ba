// Nothing is swapped; what does not fit is recomputed (Chen et al., "Training deep nets with sublinear memory
// cost", 2016; here with the search of hybrid instead of equal segments).
#include "swap/planners/by_sample.h"
#include "swap/planners/planners.h"
#include "swap/planners/search.h"

namespace voxswap::swap {

Plan plan_checkpoint(const PlanRequest& request) {
  PlanRequest inside = request;
  inside.budgets.host = inside.budgets.disk = 0;
  Plan kept = plan_keep(inside);
  if (within(inside.budgets, kept)) {
    kept.planner = "checkpoint";
    return kept;
  }
  const SearchOptions options{.may_swap = false, .quick = request.quick};
  if (request.one_sample != nullptr) return search_plan_by_sample(inside, "checkpoint", options);
  return search_plan(GraphFacts(inside), "checkpoint", options).plan;
}

}  // namespace voxswap::swap
