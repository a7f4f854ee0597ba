#include "pipeline/plan/planning.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/keys.h"
#include "base/progress.h"
#include "net/graph/origin.h"
#include "swap/measure/profile.h"
#include "swap/plan/does_not_fit.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

PlannableStep plannable(const Target& target, const MemoryOptions& memory, const net::Graph& graph,
                        std::vector<net::ValueId> kept, net::Exchange* exchange) {
  PlannableStep step;
  step.graph = std::make_unique<const net::Graph>(graph);
  step.problem.graph = step.graph.get();
  step.problem.kept = std::move(kept);
  step.problem.budgets = target.budgets;
  step.problem.left_free = target.left_free;
  step.problem.tflms = memory.tflms;
  step.problem.lms_threshold = memory.lms_threshold;
  if (target.backend) {
    const Doing doing("compiling kernels");
    step.compiled = std::make_unique<swap::CompiledGraph>(*target.backend, *step.graph, exchange);
    step.problem.workspaces = step.compiled->workspaces();
  } else {
    step.problem.workspaces.assign(graph.nodes().size(), 0);
  }
  return step;
}

namespace {

void set_fewer_slabs(PlannableStep& step, const std::optional<net::Graph>& graph) {
  if (graph) step.in_fewer_slabs = std::make_unique<const net::Graph>(*graph);
}

}  // namespace

PlannableStep plannable_training(const Target& target, const MemoryOptions& memory, const Steps& steps,
                                 net::Exchange& exchange) {
  const auto of = [&](const net::TrainingStep& training, net::Exchange* with) {
    PlannableStep step = plannable(target, memory, training.graph, {training.loss}, with);
    set_fewer_slabs(step, training.in_fewer_slabs);
    return step;
  };
  PlannableStep step = of(*steps.training, &exchange);
  if (steps.one_sample) step.one_sample = std::make_unique<PlannableStep>(of(*steps.one_sample, nullptr));
  return step;
}

PlannableStep plannable_inference(const Target& target, const MemoryOptions& memory,
                                  const net::InferenceStep& inference, net::Exchange* exchange) {
  PlannableStep step = plannable(target, memory, inference.graph, kept_values(inference), exchange);
  set_fewer_slabs(step, inference.in_fewer_slabs);
  return step;
}

namespace {

// Costs of all samples from those of one; nodes without counterpart (sums over samples) keep their estimates.
swap::CostModel spread_costs(const PlannableStep& one, const PlannableStep& step, swap::CostModel estimate) {
  const std::vector<net::NodeId> same = net::counterparts(*step.graph, *one.graph).nodes;
  std::vector<double> all = std::move(estimate.node_seconds);
  swap::CostModel costs = *one.costs;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (same[i] != net::none) all[i] = one.costs->node_seconds[static_cast<std::size_t>(same[i])];
  costs.node_seconds = std::move(all);
  return costs;
}

// The reverse of spread_costs. Nodes without counterpart (checks for finite values) only occur in sums over
// samples and take negligible time.
swap::CostModel costs_of_one(const PlannableStep& step) {
  const net::Graph& one = *step.one_sample->graph;
  const std::vector<net::NodeId> same = net::counterparts(*step.graph, one).nodes;
  swap::CostModel costs = *step.costs;
  costs.node_seconds.assign(one.nodes().size(), 0);
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

void set_costs(PlannableStep& step, swap::CostModel costs) {
  step.costs = std::make_unique<const swap::CostModel>(std::move(costs));
  step.problem.costs = step.costs.get();
  step.problem.in_fewer_slabs = step.in_fewer_slabs.get();
  if (!step.one_sample) return;
  if (!step.one_sample->costs) set_costs(*step.one_sample, costs_of_one(step));
  step.problem.one_sample = &step.one_sample->problem;
}

swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory) {
  swap::CostModel costs = swap::estimate_costs(*step.graph, *target.rates);
  const bool is_here = target.backend != nullptr;
  set_rate(costs.to_host, memory.to_host_rate, is_here);
  set_rate(costs.to_device, memory.to_device_rate, is_here);
  if (target.network) swap::set_exchange_seconds(*step.graph, *target.network, costs);
  return costs;
}

namespace {

swap::ProfileRequest profile_request(const PlannableStep& step, const Target& target,
                                     const Experiment& experiment) {
  swap::ProfileRequest request;
  request.kept = step.problem.kept;
  request.budget_bytes = target.budgets.device;
  request.host_budget_bytes = target.budgets.host;
  request.host_as_asked = experiment.memory.host_bytes.has_value();
  request.disk_folder = experiment.memory.disk_folder;
  request.disk_budget_bytes = target.budgets.disk;
  request.to_host_rate = experiment.memory.to_host_rate;
  request.to_device_rate = experiment.memory.to_device_rate;
  if (!experiment.cache.empty()) request.cache = experiment.cache / "costs";
  return request;
}

}  // namespace

void forget_costs(PlannableStep& step, const Target& target, const Experiment& experiment) {
  PlannableStep& measured = step.one_sample ? *step.one_sample : step;
  swap::forget_costs(*measured.compiled, profile_request(measured, target, experiment));
}

swap::CostModel measure(PlannableStep& step, const Target& target, const Experiment& experiment,
                        bool remember, bool disproved) {
  if (step.one_sample) {
    PlannableStep& one = *step.one_sample;
    set_costs(one, measure(one, target, experiment, remember, disproved));
    swap::CostModel costs = spread_costs(one, step, estimate(step, target, experiment.memory));
    if (target.network) swap::set_exchange_seconds(*step.graph, *target.network, costs);
    return costs;
  }
  swap::ProfileRequest request = profile_request(step, target, experiment);
  request.remember = remember;
  if (disproved) request.disproved = step.costs.get();
  try {
    swap::CostModel costs = swap::measure_costs(*step.compiled, request);
    if (target.network) swap::set_exchange_seconds(*step.graph, *target.network, costs);
    return costs;
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    set_costs(step, estimate(step, target, experiment.memory));
    plan_step(experiment.memory.planner, step.problem, experiment);
    throw;
  }
}

namespace {

// Settings that make a step smaller.
std::vector<std::string> smaller_steps(const net::Graph& graph, const Experiment& experiment) {
  std::vector<std::string> all;
  if (experiment.training.patch)
    all.push_back(format("a smaller {}", key::training_patch));
  else if (experiment.preprocess.by_spacing())
    all.push_back(format("a larger {} or patches ({})", key::preprocess_spacing, key::training_patch));
  else
    all.push_back(format("a lower {}", key::preprocess_resolution));
  const bool is_narrow =
      std::any_of(graph.values().begin(), graph.values().end(), [](const net::Value& value) {
        return value.role == net::Role::input && net::element_bytes(value.type) == 2;
      });
  if (!is_narrow) all.push_back(format("{}: bf16 or f16", key::training_precision));
  all.push_back(format("a lower {}", key::network_base_filters));
  return all;
}

}  // namespace

swap::Plan plan_step(const std::string& planner, const swap::StepProblem& problem,
                     const Experiment& experiment, bool quick) {
  std::optional<Doing> doing;
  if (!quick && planner != "keep") doing.emplace("planning, " + planner);  // keep does not search
  try {
    return swap::make_plan(planner, problem, quick);
  } catch (const swap::DoesNotFit& error) {
    throw error.with(smaller_steps(*problem.graph, experiment));
  }
}

std::optional<swap::Plan> plan_staying(const swap::StepProblem& problem) {
  try {
    return swap::make_plan("keep", problem);
  } catch (const swap::DoesNotFit&) {
    return std::nullopt;
  }
}

swap::Bound bound_of(const swap::StepProblem& problem) {
  swap::Bound bound =
      swap::lower_bound(*problem.graph, problem.workspaces, problem.kept, *problem.costs, problem.budgets);
  if (problem.costs->is_noisy()) bound.seconds = std::numeric_limits<double>::quiet_NaN();
  return bound;
}

}  // namespace voxswap::pipeline
