// The planners keep, unified, checkpoint, lms-threshold and hybrid, each a few lines around the shared
// schedule and search. TFLMS has its own file (tflms.cpp).

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

Plan plan_resident(const StepProblem& problem, const char* name) {
  const GraphFacts facts(problem);
  Schedule schedule;
  schedule.sequence = *expand(facts, keep_everything(facts));
  schedule.on_disk.assign(schedule.sequence.live_ranges.size(), false);
  return lay_out(facts, schedule, name);
}

StepProblem without_host(StepProblem problem) {
  problem.budgets.host = problem.budgets.disk = 0;
  return problem;
}

}  // namespace

// Nothing is swapped and nothing is recomputed.
Plan plan_keep(const StepProblem& problem, bool /*quick*/) {
  return plan_resident(problem, "keep");
}
Plan plan_unified(const StepProblem& problem, bool /*quick*/) {
  Plan plan = plan_resident(problem, unified_planner);
  plan.paged = true;
  if (plan.peak_bytes > problem.budgets.device)
    plan.remarks = format("the driver moves pages of an arena of {}, which the prediction does not include",
                          format_bytes(plan.peak_bytes));
  return plan;
}

// Nothing is swapped; what does not fit is recomputed (Chen et al., "Training deep nets with sublinear memory
// cost", 2016; here with the search of hybrid instead of equal segments).
Plan plan_checkpoint(const StepProblem& problem, bool quick) {
  const StepProblem inside = without_host(problem);
  Plan kept = plan_keep(inside, quick);
  if (within(inside.budgets, kept)) {
    kept.planner = "checkpoint";
    return kept;
  }
  const SearchOptions options{.may_swap = false, .quick = quick};
  if (problem.one_sample != nullptr) return search_plan_by_sample(inside, "checkpoint", options);
  return search_plan(GraphFacts(inside), "checkpoint", options).plan;
}

// Caffe LMS (Le et al. 2018): values above a threshold are stored in host memory and swapped in for each use,
// regardless of budget and cost.
Plan plan_lms_threshold(const StepProblem& problem, bool /*quick*/) {
  const GraphFacts facts(problem);
  Schedule schedule;
  schedule.sequence = *expand(facts, keep_everything(facts));
  for (Eviction& eviction : eviction_candidates(schedule.sequence)) {
    const net::ValueId value = schedule.sequence.live_ranges[index(eviction.live_range)].value;
    if (problem.graph->value(value).bytes() > problem.lms_threshold) schedule.evictions.push_back(eviction);
  }
  const ScheduleOptions options{.device_budget = problem.budgets.device};
  finish_schedule(facts, options, true, schedule);
  Plan plan = lay_out(facts, schedule, "lms-threshold");
  plan.remarks = format("threshold {}", counted(problem.lms_threshold, "byte"));
  return plan;
}

namespace {

void take_if_faster(const Budgets& budgets, Plan other, Plan& best) {
  const bool faster = !within(budgets, best) || other.predicted_seconds < best.predicted_seconds;
  if (within(budgets, other) && faster) best = std::move(other);
}

Plan best_by_sample(const StepProblem& problem, bool quick) {
  Plan best = search_plan_by_sample(problem, "hybrid", {.quick = quick});
  const bool fits = within(problem.budgets, best);
  if (quick || (fits && is_near_compute_time(GraphFacts(problem), best))) return best;
  const SearchOptions recomputing{.may_swap = false, .effort = fits ? 0.25 : 1};
  take_if_faster(problem.budgets, search_plan_by_sample(without_host(problem), "hybrid", recomputing), best);
  return best;
}

}  // namespace

// Chooses for every value whether to keep, swap (to host or disk) or recompute it, so that the step is
// shortest. If the plan of another planner is faster than the search's, that one is taken.
Plan plan_hybrid(const StepProblem& problem, bool quick) {
  Plan best = plan_keep(problem, quick);
  if (!within(problem.budgets, best) && problem.one_sample != nullptr) {
    best = best_by_sample(problem, quick);
  } else if (!within(problem.budgets, best)) {
    // Steps in thousands of slabs need more effort, because each schedule takes longer; recomputing alone
    // seldom helps there.
    const GraphFacts facts(problem);
    const auto nodes = static_cast<double>(facts.nodes.size());
    const double more = facts.in_slabs ? 0.4 * std::min(nodes / 700, 12'000 / nodes) : 0;
    const double good = quick ? 0 : good_seconds(problem);
    best = search_plan(facts, "hybrid", {.effort = 1 + more, .quick = quick, .good_seconds = good}).plan;
    const bool is_good = within(problem.budgets, best) && best.predicted_seconds <= good;
    if (!quick && !is_good) {
      const StepProblem inside = without_host(problem);
      SearchOptions recomputing{.may_swap = false, .effort = facts.in_slabs ? 0.1 : 1};
      if (within(problem.budgets, best)) recomputing.to_beat = 1.02 * best.predicted_seconds;
      take_if_faster(problem.budgets, search_plan(GraphFacts(inside), "hybrid", recomputing).plan, best);
      take_if_faster(problem.budgets, plan_tflms(problem, quick), best);
    }
  }
  best.planner = "hybrid";
  best.host_budget_bytes = problem.budgets.host;
  best.disk_budget_bytes = problem.budgets.disk;
  return best;
}

}  // namespace voxswap::swap
