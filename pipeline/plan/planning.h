// Prepares a step for execution or forecast: compiled kernels, costs on the target, and plans. Sessions
// execute such plans, forecasts only report them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/steps.h"
#include "pipeline/plan/target.h"
#include "swap/execute/executor.h"
#include "swap/model/bound.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// A step to plan, on its target.
struct PlannableStep {
  net::Graph graph;
  std::vector<net::ValueId> kept;
  std::unique_ptr<swap::CompiledGraph>
      compiled;  // null if the device is not in this machine: kernels without workspace
  std::vector<std::int64_t> workspaces;
  std::optional<swap::CostModel> costs;
  std::string smaller;                         // copied from the target
  std::optional<net::Graph> in_fewer_slabs{};  // swap/planners/planner.h
  // For a step of several samples: the step of one sample, with which all are planned and measured.
  std::unique_ptr<PlannableStep> one_sample = nullptr;
};
PlannableStep plannable(const Target& target, net::Graph graph, std::vector<net::ValueId> kept,
                        net::Exchange* exchange = nullptr);

// Costs estimated from the target's rates. memory.link replaces the link's rate or, if the device is in this
// machine, limits it.
swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory);
// Costs measured on the target within the budgets, or read from `options.cache`, where new ones are stored if
// `remember`. If `disproved`, the step's present costs were wrong and it is always measured. Error messages
// about what does not fit name the experiment's planner.
swap::CostModel measure(PlannableStep& step, const Target& target, const RunOptions& options,
                        bool remember = true, bool disproved = false);
// Removes cached costs, so that the next planning of such a step measures it.
void forget_costs(PlannableStep& step, const Target& target, const RunOptions& options);

// make_plan() with all settings of the experiment. `quick`: less search, enough to check what fits.
swap::Plan plan_step(const std::string& planner, const PlannableStep& step, const swap::Budgets& budgets,
                     const MemoryOptions& memory, bool quick = false);
// The plan that keeps all values on the device, if it fits; for inference no plan is better. Needs no costs.
std::optional<swap::Plan> plan_staying(const PlannableStep& step, const swap::Budgets& budgets,
                                       const MemoryOptions& memory);
// Lower bound on the step time of any plan; NaN if costs are noisy. REQUIRES: costs.
swap::Bound bound_of(const PlannableStep& step, const swap::Budgets& budgets);

// The training step of `steps`. REQUIRES: there is one.
PlannableStep plannable_training(const Target& target, const Steps& steps, net::Exchange& exchange);
// `exchange`: with slab ranks; otherwise null.
PlannableStep plannable_inference(const Target& target, const net::InferenceStep& inference,
                                  net::Exchange* exchange);

}  // namespace voxswap::pipeline
