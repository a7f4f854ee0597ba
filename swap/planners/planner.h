// Planners turn a graph, its kernels' workspaces and a cost model into a plan: free functions, rows of the
// table in planners/planners.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/keys.h"
#include "swap/model/bound.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// TFLMS's knobs (docs/reference/keys.md); none: found by its tuner.
struct TflmsOptions {
  std::optional<std::int64_t> swapout_threshold, swapin_ahead, swapin_groupby;
  int sync_mode = 0;  // 0 none, 1 swap-outs, 2 swap-ins, 3 both are waited for
  bool operator==(const TflmsOptions&) const = default;
};

struct PlanRequest {
  const net::Graph* graph = nullptr;
  std::vector<std::int64_t> workspaces;  // bytes, per node
  Budgets budgets{};
  std::vector<net::ValueId> kept{};  // values that are read from outside after the step (loss, probabilities)
  const CostModel* costs = nullptr;  // null only for `keep`
  TflmsOptions tflms{};
  std::int64_t lms_threshold = 8 << 20;  // bytes
  bool quick = false;                    // less search: to find out what fits
  // Of a step that takes several samples one after the other: the same step of one of them, with its costs.
  // Null: it is searched as a whole.
  const PlanRequest* one_sample = nullptr;
  // Of a step in many pieces: the same step in fewer, on which searches begin (search.h). Null: they do
  // not.
  const net::Graph* in_fewer_slabs = nullptr;
  // What makes the step smaller, for messages.
  std::string smaller = std::string("a lower ") + key::preprocess_resolution;
};

// Throws Exit::usage for an unknown planner, Exit::does_not_fit when no plan of this planner is within the
// budgets: budget, what would be needed, the node that needs it, and what would help.
Plan make_plan(const std::string& planner, const PlanRequest& request);
std::vector<std::string> planner_names();  // those for any device

// A baseline for GPUs: keep's plan in a paged arena, which may exceed the budget (plan.h).
constexpr const char* unified_planner = "unified";

// The planners, one file each. They return a plan of any size; make_plan() checks it against the budgets.
Plan plan_keep(const PlanRequest& request);
Plan plan_unified(const PlanRequest& request);
Plan plan_lms_threshold(const PlanRequest& request);
Plan plan_tflms(const PlanRequest& request);
Plan plan_checkpoint(const PlanRequest& request);
Plan plan_hybrid(const PlanRequest& request);

bool within(const Budgets& budgets, const Plan& plan);

}  // namespace voxswap::swap
