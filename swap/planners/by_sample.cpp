#include "swap/planners/by_sample.h"

#include <algorithm>
#include <optional>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/origin.h"
#include "swap/plan/arena.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {

namespace {

constexpr int attempts =
    5;  // with less and less memory for the one sample, until a plan is within the budgets

std::int64_t bytes_of_inputs(const net::Graph& graph) {
  std::int64_t bytes = 0;
  for (const net::ValueId id : graph.with_role(net::Role::input)) bytes += occupied(graph.value(id).bytes());
  return bytes;
}

// For every pass of the step with all samples, the pass of the step with one sample. It may belong to any
// sample: retaining a value beyond its last use takes no memory.
std::vector<std::size_t> passes_of(const GraphFacts& all, const GraphFacts& one,
                                   const net::Counterparts& counterparts) {
  std::vector<std::size_t> passes(all.passes, 0);
  for (std::size_t id = all.nodes.size(); id-- > 0;) {
    if (const net::NodeId node = counterparts.nodes[id]; node != net::none)
      passes[index(all.pass[id])] = index(one.pass[index(node)]);
  }
  return passes;
}

// Copies the decisions for one sample to all samples.
Decisions for_all(const GraphFacts& one, const Decisions& decisions, const GraphFacts& all) {
  const net::Counterparts counterparts = net::counterparts(*all.problem->graph, *one.problem->graph);
  Decisions result = keep_everything(all);
  result.reserve = decisions.reserve;
  result.reuse_window = decisions.reuse_window;
  const std::vector<std::size_t> passes = passes_of(all, one, counterparts);
  for (net::ValueId id = 0; index(id) < all.values.size(); ++id) {
    const net::ValueId same = counterparts.values[index(id)];
    if (same == net::none) continue;
    const ValueFacts &of_all = all.values[index(id)], &of_one = one.values[index(same)];
    copy_value_decisions({one, same}, decisions, {all, id}, passes, result);
    if (of_all.readers.size() != of_one.readers.size()) continue;
    for (GapId gap = 0; gap <= static_cast<GapId>(of_one.readers.size()); ++gap)
      result.recompute[index(of_all.first_gap + gap)] = decisions.recompute[index(of_one.first_gap + gap)];
  }
  return result;
}

}  // namespace

bool is_near_compute_time(const GraphFacts& facts, const Plan& plan) {
  return plan.predicted_seconds < 1.02 * facts.compute_seconds;
}

// While one sample is processed, images of other samples and sums of gradients are resident as well. How much
// memory they take is known only from the plan for all samples, so several amounts are tried.
Plan search_plan_by_sample(const StepProblem& problem, const std::string& planner,
                           const SearchOptions& options) {
  const GraphFacts all(problem);
  StepProblem one = *problem.one_sample;
  one.budgets = problem.budgets;
  const std::int64_t least = least_budget(*one.graph, one.workspaces, one.kept).bytes;
  std::optional<Plan> best;
  const auto plan_beside = [&](std::int64_t bytes) {
    one.budgets.device = std::max(problem.budgets.device - bytes, least);
    const GraphFacts facts(one);
    const SearchResult found = search_plan(facts, planner, options);
    Plan plan = lay_out_within_budget(all, planner, options, for_all(facts, found.decisions, all));
    const bool fits = within(problem.budgets, plan);
    const bool better = best && within(problem.budgets, *best)
                            ? fits && plan.predicted_seconds < best->predicted_seconds
                            : !best || fits || plan.peak_bytes < best->peak_bytes;
    if (better) best = std::move(plan);
  };
  const std::int64_t images = bytes_of_inputs(*problem.graph) - bytes_of_inputs(*one.graph);
  const auto good = [&] { return within(problem.budgets, *best) && is_near_compute_time(all, *best); };
  plan_beside(images);
  if (problem.budgets.host > 0 && !options.quick && !good()) plan_beside(0);
  const std::int64_t decrement = (problem.budgets.device - all.persistent_bytes) / 20;
  for (int more = 1; more <= attempts && !within(problem.budgets, *best) && one.budgets.device > least;
       ++more)
    plan_beside(images + more * decrement);
  return *std::move(best);
}

}  // namespace voxswap::swap
