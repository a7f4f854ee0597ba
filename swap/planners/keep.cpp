// Nothing is swapped and nothing is recomputed.
#include "swap/planners/layout.h"
#include "swap/planners/planners.h"

namespace voxswap::swap {

namespace {

Plan plan_staying(const PlanRequest& request, const char* name) {
  const GraphFacts facts(request);
  Schedule schedule;
  schedule.sequence = *expand(facts, keep_everything(facts));
  schedule.on_disk.assign(schedule.sequence.lives.size(), false);
  return lay_out(facts, schedule, name);
}

}  // namespace

Plan plan_keep(const PlanRequest& request) {
  return plan_staying(request, "keep");
}
Plan plan_unified(const PlanRequest& request) {
  return plan_staying(request, unified_planner);
}

}  // namespace voxswap::swap
