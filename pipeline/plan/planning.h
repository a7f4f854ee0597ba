// What is known about a step before it runs: its kernels, their costs on the target, and the resulting plans.
// Sessions execute such plans, forecasts only report them.
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

// A step to be planned, on its target.
struct PlannableStep {
  net::Graph graph;
  std::vector<net::ValueId> kept;
  std::unique_ptr<swap::CompiledGraph>
      compiled;  // null on a device that is not here: kernels without workspace
  std::vector<std::int64_t> workspaces;
  std::optional<swap::CostModel> costs;
  std::string smaller;                         // of the target
  std::optional<net::Graph> in_fewer_slabs{};  // swap/planners/planner.h
  // Of a step that takes several samples: the step of one, by which all are planned and measured.
  std::unique_ptr<PlannableStep> one_sample = nullptr;
};
PlannableStep plannable(const Target& target, net::Graph graph, std::vector<net::ValueId> kept,
                        net::Exchange* exchange = nullptr);

// Costs from the target's rates, with memory.link in place of its link (or, where the device is here, as a
// limit of it).
swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory);
// Costs measured there within the budgets, or found in `options.cache`, where they are put if they are to be
// remembered. Where the step has costs that are `disproved`, it is measured in any case. Errors about what
// does not fit name the experiment's planner.
swap::CostModel measure(PlannableStep& step, const Target& target, const RunOptions& options,
                        bool remember = true, bool disproved = false);
// Whoever plans such a step next measures it.
void forget_costs(PlannableStep& step, const Target& target, const RunOptions& options);

// make_plan() with all that the experiment says. `quick`: less search, to find out what fits.
swap::Plan plan_step(const std::string& planner, const PlannableStep& step, const swap::Budgets& budgets,
                     const MemoryOptions& memory, bool quick = false);
// The plan in which nothing leaves, if it fits: inference gains nothing from another. Needs no costs.
std::optional<swap::Plan> plan_staying(const PlannableStep& step, const swap::Budgets& budgets,
                                       const MemoryOptions& memory);
// The step time that no plan can beat; not a number where the costs are noisy. REQUIRES: costs.
swap::Bound bound_of(const PlannableStep& step, const swap::Budgets& budgets);

// Of these steps, which have one for training.
PlannableStep plannable_training(const Target& target, const Steps& steps, net::Exchange& exchange);
// `exchange`: of ranks that share volumes; else null.
PlannableStep plannable_inference(const Target& target, const net::InferenceStep& inference,
                                  net::Exchange* exchange);

}  // namespace voxswap::pipeline
