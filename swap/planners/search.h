// The search behind `hybrid` and `checkpoint`: which values to recompute and which to swap.
//
// State: Decisions (decisions.h). Cost: the time of their schedule (scheduling.h); excess over the budgets
// counts first. Moves: HillClimb (hill_climb.h). The search
//   1. schedules starting points: keep everything; recompute all values that a limited chain of
//      recomputations can restore, for several limits; or the result of a search with fewer slabs
//      (coarsening.h);
//   2. improves the best of them by hill climbing, each with its own random numbers;
//   3. lays out the best schedules and simulates the plans, because packing may need more memory than the sum
//      of live values, and because a schedule's time is an estimate;
//   4. tries random changes of the best plan, judged by simulation.
// The best starting point is laid out before it is improved, because any plan within `good_seconds` ends the
// search.
// The effort is counted in steps and copies scheduled, not in seconds, so a result is a pure function of the
// problem.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "swap/planners/decisions.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {

struct SearchOptions {
  bool may_swap = true;
  double effort = 1;   // relative to the usual effort
  bool quick = false;  // starting points only, to find out what fits
  // Seconds of an existing plan. The search stops early if its starting points are slower.
  double to_beat = std::numeric_limits<double>::max();
  double good_seconds = 0;  // a plan that takes no longer ends the search
};

// Seconds of a plan that ends a search: 0.1 % above the lower bound, less than the error of a cost model.
// Computing the bound takes a fiftieth of the time of a search.
double good_seconds(const StepProblem& problem);

// A plan and the decisions behind it.
struct SearchResult {
  Plan plan;
  Decisions decisions;
  std::int64_t aim = 0;  // bytes of device memory that its schedule was limited to
};

// The fastest plan found within the budgets; if none is, the plan found that exceeds them least.
SearchResult search_plan(const GraphFacts& facts, const std::string& planner, const SearchOptions& options);

// The plan of given decisions, within the budgets if it can be packed.
Plan lay_out_within_budget(const GraphFacts& facts, const std::string& planner, const SearchOptions& options,
                           const Decisions& decisions);

}  // namespace voxswap::swap
