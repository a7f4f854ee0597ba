// Planners turn a graph, the workspaces of its kernels and a cost model into a plan. They are free functions,
// listed in the table in planners.cpp. The words of this folder:
// - node: an operation of the graph (net/graph/graph.h).
// - step: an entry of a sequence: a node that runs, for the first time or recomputed.
// - value: a tensor. Persistent values (parameters, optimiser state) never leave the device.
// - volume, slab: a tensor of the network, and its part between two depths. A whole tensor is one slab.
// - halo: planes of the neighbouring slabs that a window reads as well.
// - pass: the time in which all slabs of one part of the network are computed.
// - gap: the time before a use of a value, since its previous use or its production.
// - live range: the steps from the production of a value to its last use. Each recomputation begins another.
// - evict: free the device memory of a value between two uses, with a copy elsewhere.
// - swap out, swap in: copy a value to host memory or disk, and back. Prefetch: swap in before the use.
// - spill: swap to disk, because the host pool is full.
// - recompute: free a value and run its node again before the next use, instead of swapping it.
// - retain: keep a recomputed value until the next pass ends.
// - in place: an output overwrites an input of its node, and is then the in-place successor of that input.
// - stall: time in which the compute stream waits for a copy.
// - decisions: per gap, recompute or not; per value, the eviction bias and more (decisions.h).
// - schedule: a sequence, its evictions and the times of their copies (scheduling.h).
// - layout: turns a schedule into a plan, with offsets, chunks of copies and waits (layout.h, plan/plan.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "swap/model/bound.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// TFLMS's parameters (docs/reference/keys.md). Those without a value are tuned.
struct TflmsOptions {
  std::optional<std::int64_t> swapout_threshold, swapin_ahead, swapin_groupby;
  int sync_mode = 0;  // which copies block the next node: 0 none, 1 swap-outs, 2 swap-ins, 3 both
  bool operator==(const TflmsOptions&) const = default;
};

// A step to plan: everything that a plan depends on. Graphs and costs outlive it.
struct StepProblem {
  const net::Graph* graph = nullptr;
  std::vector<std::int64_t> workspaces;  // bytes, per node
  Budgets budgets{};
  std::vector<net::ValueId> kept{};  // values that are read from outside after the step (loss, probabilities)
  const CostModel* costs = nullptr;  // null only for `keep`
  TflmsOptions tflms{};
  std::int64_t lms_threshold = 8 << 20;  // bytes
  // For a step that processes several samples in sequence: the step of one sample, which is searched in its
  // place. Null: the step is searched as a whole.
  const StepProblem* one_sample = nullptr;
  // For a step in many slabs: the same step in fewer slabs, which is searched first (coarsening.h). May be
  // null.
  const net::Graph* in_fewer_slabs = nullptr;
  std::int64_t left_free = 0;  // bytes of the device's budget for others, if there is a plan within the rest
};

// `quick`: search less, to find out what fits. Throws Exit::usage for an unknown planner. Throws DoesNotFit
// (swap/plan/does_not_fit.h) if this planner has no plan within the budgets: the message says the budget,
// what the planner needs, for which node, and which budgets help.
Plan make_plan(const std::string& planner, const StepProblem& problem, bool quick = false);
std::vector<std::string> planner_names();  // those for any device

// A baseline for GPUs: keep's plan in a paged arena, which may exceed the budget (plan.h).
constexpr const char* unified_planner = "unified";

// The planners. They return a plan of any size; make_plan() checks it against the budgets.
Plan plan_keep(const StepProblem& problem, bool quick);
Plan plan_unified(const StepProblem& problem, bool quick);
Plan plan_lms_threshold(const StepProblem& problem, bool quick);
Plan plan_tflms(const StepProblem& problem, bool quick);
Plan plan_checkpoint(const StepProblem& problem, bool quick);
Plan plan_hybrid(const StepProblem& problem, bool quick);

bool within(const Budgets& budgets, const Plan& plan);

}  // namespace voxswap::swap
