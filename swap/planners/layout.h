// Lays out a schedule as a plan: the list of instructions, the offsets in all memories, the waits.
#pragma once

#include <optional>
#include <string>

#include "swap/plan/arena.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

struct LayoutOptions {
  bool triggered = false;     // a copy in starts when the step before `resident_from` ends, as in TFLMS
  bool wait_for_out = false;  // the step after a copy out waits for it
  double packing_effort = usual_effort;
};

// Packing may need a little more memory than the schedule; the caller compares the plan with the budgets.
// Sets `predicted_seconds` by simulation if the problem has costs.
Plan lay_out(const GraphFacts& facts, const Schedule& schedule, const std::string& planner,
             const LayoutOptions& options = {});

}  // namespace voxswap::swap
