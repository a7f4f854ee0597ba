// From a schedule to a plan: the list of instructions, the offsets in all memories, the waits.
#pragma once

#include <optional>
#include <string>

#include "swap/plan/arena.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

struct LayoutOptions {
  // Copies are tied to the steps of their windows, as TFLMS's are: a copy in starts when the step before
  // `back_at` is done.
  bool triggered = false;
  bool wait_for_out = false;  // the step after a copy out waits for it
  double packing_effort = usual_effort;
};

// What it takes in the end; memory beyond the budgets is for the caller to judge (packing may need a little
// more than the schedule's memory). `predicted_seconds` is set by simulation when the request has costs.
Plan lay_out(const GraphFacts& facts, const Schedule& schedule, const std::string& planner,
             const LayoutOptions& options = {});

}  // namespace voxswap::swap
