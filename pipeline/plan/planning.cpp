#include "pipeline/plan/planning.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/progress.h"
#include "net/graph/origin.h"
#include "swap/measure/profile.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

PlannableStep plannable(const Target& target, net::Graph graph, std::vector<net::ValueId> kept,
                        net::Exchange* exchange) {
  PlannableStep step;
  step.graph = std::move(graph);
  step.kept = std::move(kept);
  step.smaller = target.smaller;
  if (target.backend) {
    const Doing doing("compiling kernels");
    step.compiled = std::make_unique<swap::CompiledGraph>(*target.backend, step.graph, exchange);
    step.workspaces = step.compiled->workspaces();
  } else {
    step.workspaces.assign(step.graph.nodes().size(), 0);
  }
  return step;
}

PlannableStep plannable_training(const Target& target, const Steps& steps, net::Exchange& exchange) {
  const auto of = [&](const net::TrainingStep& training, net::Exchange* with) {
    PlannableStep step = plannable(target, training.graph, {training.loss}, with);
    step.in_fewer_slabs = training.in_fewer_slabs;
    return step;
  };
  PlannableStep step = of(*steps.training, &exchange);
  if (steps.one_sample) step.one_sample = std::make_unique<PlannableStep>(of(*steps.one_sample, nullptr));
  return step;
}

PlannableStep plannable_inference(const Target& target, const net::InferenceStep& inference,
                                  net::Exchange* exchange) {
  PlannableStep step = plannable(target, inference.graph, kept_values(inference), exchange);
  step.in_fewer_slabs = inference.in_fewer_slabs;
  return step;
}

namespace {

// Copies node costs of one sample to the nodes of all samples; nodes without counterpart (sums over samples)
// keep their estimates.
void spread_costs(const PlannableStep& one, PlannableStep& step) {
  const std::vector<net::NodeId> same = net::counterparts(step.graph, one.graph).nodes;
  std::vector<double> all = std::move(step.costs->node_seconds);
  step.costs = *one.costs;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (same[i] != net::none) all[i] = one.costs->node_seconds[static_cast<std::size_t>(same[i])];
  step.costs->node_seconds = std::move(all);
}

// The reverse of spread_costs. Nodes whose name differs (checks for finite values) only occur in sums over
// samples and take negligible time.
swap::CostModel costs_of_one(const PlannableStep& step) {
  const PlannableStep& one = *step.one_sample;
  const std::vector<net::NodeId> same = net::counterparts(step.graph, one.graph).nodes;
  swap::CostModel costs = *step.costs;
  costs.node_seconds.assign(one.graph.nodes().size(), 0);
  for (std::size_t i = same.size(); i-- > 0;)  // the first sample counts
    if (same[i] != net::none)
      costs.node_seconds[static_cast<std::size_t>(same[i])] = step.costs->node_seconds[i];
  return costs;
}

void set_rate(swap::Link& link, double rate, bool as_limit) {
  if (rate <= 0) return;
  link.alone = as_limit ? std::min(link.alone, rate) : rate;
  link.busy = as_limit ? std::min(link.busy, rate) : rate;
}

}  // namespace

swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory) {
  swap::CostModel costs = swap::estimate_costs(step.graph, *target.rates);
  const bool is_here = target.backend != nullptr;
  set_rate(costs.to_host, memory.to_host_rate, is_here);
  set_rate(costs.to_device, memory.to_device_rate, is_here);
  if (target.network) swap::set_exchange_seconds(step.graph, *target.network, costs);
  return costs;
}

namespace {

swap::ProfileRequest profile_request(const PlannableStep& step, const Target& target,
                                     const RunOptions& options) {
  swap::ProfileRequest request;
  request.kept = step.kept;
  request.budget_bytes = target.budgets.device;
  request.host_budget_bytes = target.budgets.host;
  request.host_as_asked = options.memory.host_bytes.has_value();
  request.disk_folder = options.memory.disk_folder;
  request.disk_budget_bytes = target.budgets.disk;
  request.to_host_rate = options.memory.to_host_rate;
  request.to_device_rate = options.memory.to_device_rate;
  if (!options.cache.empty()) request.cache = options.cache / "costs";
  return request;
}

}  // namespace

void forget_costs(PlannableStep& step, const Target& target, const RunOptions& options) {
  PlannableStep& measured = step.one_sample ? *step.one_sample : step;
  swap::forget_costs(*measured.compiled, profile_request(measured, target, options));
}

swap::CostModel measure(PlannableStep& step, const Target& target, const RunOptions& options, bool remember,
                        bool disproved) {
  if (step.one_sample) {
    step.costs = estimate(step, target, options.memory);
    step.one_sample->costs = measure(*step.one_sample, target, options, remember, disproved);
    spread_costs(*step.one_sample, step);
    if (target.network) swap::set_exchange_seconds(step.graph, *target.network, *step.costs);
    return *step.costs;
  }
  swap::ProfileRequest request = profile_request(step, target, options);
  request.remember = remember;
  const std::optional<swap::CostModel> before = step.costs;
  if (disproved && before) request.disproved = &*before;
  try {
    swap::CostModel costs = swap::measure_costs(*step.compiled, request);
    if (target.network) swap::set_exchange_seconds(step.graph, *target.network, costs);
    return costs;
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    step.costs = estimate(step, target, options.memory);
    plan_step(options.memory.planner, step, target.budgets, options.memory);
    throw;
  }
}

swap::Plan plan_step(const std::string& planner, const PlannableStep& step, const swap::Budgets& budgets,
                     const MemoryOptions& memory, bool quick) {
  swap::PlanRequest request;
  request.graph = &step.graph;
  request.workspaces = step.workspaces;
  request.budgets = budgets;
  request.kept = step.kept;
  request.costs = step.costs ? &*step.costs : nullptr;
  request.tflms = memory.tflms;
  request.lms_threshold = memory.lms_threshold;
  request.quick = quick;
  request.smaller = step.smaller;
  request.in_fewer_slabs = step.in_fewer_slabs && step.costs ? &*step.in_fewer_slabs : nullptr;
  swap::PlanRequest one = request;
  std::optional<swap::CostModel> costs;
  if (step.one_sample && step.costs) {
    costs = costs_of_one(step);
    one.graph = &step.one_sample->graph;
    one.workspaces = step.one_sample->workspaces;
    one.kept = step.one_sample->kept;
    one.costs = &*costs;
    one.in_fewer_slabs = step.one_sample->in_fewer_slabs ? &*step.one_sample->in_fewer_slabs : nullptr;
    request.one_sample = &one;
  }
  std::optional<Doing> doing;
  if (!quick && planner != "keep") doing.emplace("planning, " + planner);  // keep does not search
  return swap::make_plan(planner, request);
}

std::optional<swap::Plan> plan_staying(const PlannableStep& step, const swap::Budgets& budgets,
                                       const MemoryOptions& memory) {
  try {
    return plan_step("keep", step, budgets, memory);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    return std::nullopt;
  }
}

swap::Bound bound_of(const PlannableStep& step, const swap::Budgets& budgets) {
  swap::Bound bound = swap::lower_bound(step.graph, step.workspaces, step.kept, *step.costs, budgets);
  if (step.costs->is_noisy()) bound.seconds = std::numeric_limits<double>::quiet_NaN();
  return bound;
}

}  // namespace voxswap::pipeline
