// The planners that memory.planner names, each a few lines over the schedule and the search that they share:
// keep, unified, checkpoint, lms-threshold and hybrid. TFLMS has its own file (tflms.cpp).

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "swap/planners/by_sample.h"
#include "swap/planners/layout.h"
#include "swap/planners/planner.h"
#include "swap/planners/scheduling.h"
#include "swap/planners/search.h"

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

// Nothing is swapped and nothing is recomputed.
Plan plan_keep(const PlanRequest& request) {
  return plan_staying(request, "keep");
}
Plan plan_unified(const PlanRequest& request) {
  Plan plan = plan_staying(request, unified_planner);
  plan.paged = true;
  if (plan.peak_bytes > request.budgets.device)
    plan.remarks = format("the driver moves pages of an arena of {}, which the prediction does not include",
                          format_bytes(plan.peak_bytes));
  return plan;
}

// Nothing is swapped; what does not fit is recomputed (Chen et al., "Training deep nets with sublinear memory
// cost", 2016; here with the search of hybrid instead of equal segments).
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

// Caffe LMS (Le et al. 2018): values above a threshold live in host memory, are swapped in for each use and
// swapped out after it, whatever the budget and the cost.
Plan plan_lms_threshold(const PlanRequest& request) {
  const GraphFacts facts(request);
  Schedule schedule;
  schedule.sequence = *expand(facts, keep_everything(facts));
  for (IdleTime& eviction : idle_times(schedule.sequence)) {
    const net::ValueId value = schedule.sequence.lives[static_cast<std::size_t>(eviction.life)].value;
    if (request.graph->value(value).bytes() > request.lms_threshold) schedule.evictions.push_back(eviction);
  }
  const ScheduleOptions options{request.budgets.device, Prefetch::at_use, 0};
  finish_schedule(facts, options, true, schedule);
  Plan plan = lay_out(facts, schedule, "lms-threshold");
  plan.remarks = format("threshold {}", counted(request.lms_threshold, "byte"));
  return plan;
}

namespace {

void take_if_ahead(const Budgets& budgets, Plan other, Plan& best) {
  const bool ahead = !within(budgets, best) || other.predicted_seconds < best.predicted_seconds;
  if (within(budgets, other) && ahead) best = std::move(other);
}

// Seconds that a plan need not fall below: what a cost model says of a step is not as true as that. The bound
// of a step in pieces takes longer than it saves.
double good_seconds(const PlanRequest& request, const GraphFacts& facts) {
  const double least = facts.in_pieces ? facts.compute_seconds
                                       : lower_bound(*request.graph, request.workspaces, request.kept,
                                                     *request.costs, request.budgets)
                                             .seconds;
  return 1.001 * least;
}

PlanRequest without_host(const PlanRequest& request) {
  PlanRequest inside = request;
  inside.budgets.host = inside.budgets.disk = 0;
  return inside;
}

Plan best_by_sample(const PlanRequest& request) {
  Plan best = search_plan_by_sample(request, "hybrid", {.quick = request.quick});
  const bool fits = within(request.budgets, best);
  if (request.quick || (fits && is_near_computing(GraphFacts(request), best))) return best;
  const SearchOptions repeating{.may_swap = false, .effort = fits ? 0.25 : 1};
  take_if_ahead(request.budgets, search_plan_by_sample(without_host(request), "hybrid", repeating), best);
  return best;
}

}  // namespace

// Chooses for every value whether to keep, swap (to host or disk) or recompute it, so that the step is
// shortest. The others' plans are among its choices; where one of them is ahead of what the search came to,
// it is taken.
Plan plan_hybrid(const PlanRequest& request) {
  Plan best = plan_keep(request);
  if (!within(request.budgets, best) && request.one_sample != nullptr) {
    best = best_by_sample(request);
  } else if (!within(request.budgets, best)) {
    // Choices of a step in thousands of pieces take longer to judge, and so does all else the more there are;
    // making again alone is seldom of use there.
    const GraphFacts facts(request);
    const auto nodes = static_cast<double>(facts.nodes.size());
    const double more = facts.in_pieces ? 0.4 * std::min(nodes / 700, 12'000 / nodes) : 0;
    const double good = request.quick ? 0 : good_seconds(request, facts);
    best =
        search_plan(facts, "hybrid", {.effort = 1 + more, .quick = request.quick, .good_seconds = good}).plan;
    const bool is_good = within(request.budgets, best) && best.predicted_seconds <= good;
    if (!request.quick && !is_good) {
      const PlanRequest inside = without_host(request);
      SearchOptions repeating{.may_swap = false, .effort = facts.in_pieces ? 0.1 : 1};
      if (within(request.budgets, best)) repeating.to_beat = 1.02 * best.predicted_seconds;
      take_if_ahead(request.budgets, search_plan(GraphFacts(inside), "hybrid", repeating).plan, best);
      take_if_ahead(request.budgets, plan_tflms(request), best);
    }
  }
  best.planner = "hybrid";
  best.host_budget_bytes = request.budgets.host;
  best.disk_budget_bytes = request.budgets.disk;
  return best;
}

}  // namespace voxswap::swap
