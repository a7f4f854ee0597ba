// The search behind `hybrid` and `checkpoint`: which values to recompute and which to swap.
#pragma once

#include <limits>
#include <string>

#include "swap/planners/decisions.h"

namespace voxswap::swap {

struct SearchOptions {
  bool may_swap = true;
  bool may_repeat = true;
  double effort = 1;   // times the usual one
  bool quick = false;  // starting points only: to find out what fits
  // Seconds of a plan that is there already: what comes nowhere near is not worked out to the end.
  double to_beat = std::numeric_limits<double>::max();
  double good_seconds = 0;  // a plan that takes no longer ends the search
};

// A plan and what it was made of.
struct Searched {
  Plan plan;
  Decisions choice;
  std::int64_t aim = 0;  // device memory that it was to use
};

// The best plan found whose arena, host pool and scratch file are within the budgets; otherwise one that is
// over them, the nearest that was found. A pure function of the request.
//
// Starting points are the choices (choice.h) that make nothing again, or what can be made again in chains of
// limited length, or what a search in fewer pieces came to (coarser.h); then flags and weights are tried in
// turn, those of large values first, as long as that helps, and then some of them at random, seeded. A choice
// is judged by its schedule's time; the best ones are laid out and judged by simulation.
Searched search_plan(const GraphFacts& facts, const std::string& planner, const SearchOptions& options);

// The plan of a choice that is made already, within the budgets if it can be packed so.
Plan lay_out_within_budget(const GraphFacts& facts, const std::string& planner, const SearchOptions& options,
                           const Decisions& choice);

}  // namespace voxswap::swap
