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
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

// A step on its target, ready to be planned. Its problem is complete once it has costs; `keep` needs none.
struct PlannableStep {
  std::unique_ptr<const net::Graph> graph, in_fewer_slabs;
  std::unique_ptr<swap::CompiledGraph> compiled;  // null if the device is not in this machine: no workspaces
  std::unique_ptr<const swap::CostModel> costs;   // null: unknown
  // For a step of several samples: the step of one sample, with which all are planned and measured.
  std::unique_ptr<PlannableStep> one_sample;
  swap::StepProblem problem;  // points to the members above
};
PlannableStep plannable(const Target& target, const MemoryOptions& memory, const net::Graph& graph,
                        std::vector<net::ValueId> kept, net::Exchange* exchange = nullptr);
void set_costs(PlannableStep& step, swap::CostModel costs);

// Costs estimated from the target's rates. memory.link replaces the link's rate or, if the device is in this
// machine, limits it.
swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory);
// Costs measured on the target within the budgets, or read from `experiment.cache`, where new ones are stored
// if `remember`. If `disproved`, the step's present costs were wrong and it is always measured. Error
// messages about what does not fit name the experiment's planner.
swap::CostModel measure(PlannableStep& step, const Target& target, const Experiment& experiment,
                        bool remember = true, bool disproved = false);
// Removes cached costs, so that the next planning of such a step measures it.
void forget_costs(PlannableStep& step, const Target& target, const Experiment& experiment);

// make_plan() whose error names the settings of the experiment that make the step smaller. `quick`: less
// search, enough to check what fits.
swap::Plan plan_step(const std::string& planner, const swap::StepProblem& problem,
                     const Experiment& experiment, bool quick = false);
// The plan that keeps all values on the device, if it fits; for inference no plan is better. Needs no costs.
std::optional<swap::Plan> plan_staying(const swap::StepProblem& problem);
// Lower bound on the step time of any plan; NaN if costs are noisy. REQUIRES: costs.
swap::Bound bound_of(const swap::StepProblem& problem);

// The training step of `steps`. REQUIRES: there is one.
PlannableStep plannable_training(const Target& target, const MemoryOptions& memory, const Steps& steps,
                                 net::Exchange& exchange);
// `exchange`: with slab ranks; otherwise null.
PlannableStep plannable_inference(const Target& target, const MemoryOptions& memory,
                                  const net::InferenceStep& inference, net::Exchange* exchange);

}  // namespace voxswap::pipeline
