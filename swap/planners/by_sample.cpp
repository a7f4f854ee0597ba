#include "swap/planners/by_sample.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/names.h"
#include "swap/plan/arena.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {

namespace {

constexpr int attempts =
    5;  // with less and less memory for the one sample, where no plan is within the budgets

std::int64_t bytes_of_inputs(const net::Graph& graph) {
  std::int64_t bytes = 0;
  for (const net::ValueId id : graph.with_role(net::Role::input)) bytes += occupied(graph.value(id).bytes());
  return bytes;
}

// Of every pass of a step of all samples, the one that the step of one sample has there. Which sample it
// is of does not matter: what is held beyond its last use takes no place.
std::vector<std::size_t> passes_of(const GraphFacts& all, const GraphFacts& one) {
  std::map<std::string, std::size_t> pass_of;  // by node
  for (std::size_t id = 0; id < one.nodes.size(); ++id)
    pass_of.emplace(one.request->graph->nodes()[id].name, index(one.pass[id]));
  std::vector<std::size_t> passes(all.passes, 0);
  for (std::size_t id = all.nodes.size(); id-- > 0;) {
    const std::optional<std::string> name = net::name_in_one_sample(all.request->graph->nodes()[id].name);
    if (const auto found = name ? pass_of.find(*name) : pass_of.end(); found != pass_of.end())
      passes[index(all.pass[id])] = found->second;
  }
  return passes;
}

// What was decided for the values of one sample, for those of all.
Decisions for_all(const GraphFacts& one, const Decisions& choice, const GraphFacts& all) {
  std::map<std::string, net::ValueId> ids;
  for (net::ValueId id = 0; index(id) < one.values.size(); ++id)
    ids.emplace(one.request->graph->value(id).name, id);
  Decisions result = keep_everything(all);
  result.reserve = choice.reserve;
  result.window = choice.window;
  const std::vector<std::size_t> passes = passes_of(all, one);
  for (net::ValueId id = 0; index(id) < all.values.size(); ++id) {
    const std::optional<std::string> name = net::name_in_one_sample(all.request->graph->value(id).name);
    const auto found = name ? ids.find(*name) : ids.end();
    if (found == ids.end()) continue;
    const ValueFacts &of_all = all.values[index(id)], &of_one = one.values[index(found->second)];
    result.alone[index(id)] = choice.alone[index(found->second)];
    result.bias[index(id)] = choice.bias[index(found->second)];
    for (std::size_t pass = 0; pass < all.passes; ++pass)
      result.held[index(id) * all.passes + pass] =
          choice.held[index(found->second) * one.passes + passes[pass]];
    if (of_all.readers.size() != of_one.readers.size()) continue;
    for (GapId gap = 0; gap <= static_cast<GapId>(of_one.readers.size()); ++gap)
      result.again[index(of_all.first_gap + gap)] = choice.again[index(of_one.first_gap + gap)];
  }
  return result;
}

}  // namespace

bool is_near_computing(const GraphFacts& facts, const Plan& plan) {
  return plan.predicted_seconds < 1.02 * facts.compute_seconds;
}

// Beside a sample lie the images of the others, or some of them, and sums of gradients: how much that is
// shows when the plan for all is there.
Plan search_plan_by_sample(const PlanRequest& request, const std::string& planner,
                           const SearchOptions& options) {
  const GraphFacts all(request);
  PlanRequest one = *request.one_sample;
  one.budgets = request.budgets;
  const std::int64_t least = least_budget(*one.graph, one.workspaces, one.kept).bytes;
  std::optional<Plan> best;
  const auto plan_beside = [&](std::int64_t bytes) {
    one.budgets.device = std::max(request.budgets.device - bytes, least);
    const GraphFacts facts(one);
    const Searched found = search_plan(facts, planner, options);
    Plan plan = lay_out_within_budget(all, planner, options, for_all(facts, found.choice, all));
    const bool fits = within(request.budgets, plan);
    const bool ahead = best && within(request.budgets, *best)
                           ? fits && plan.predicted_seconds < best->predicted_seconds
                           : !best || fits || plan.peak_bytes < best->peak_bytes;
    if (ahead) best = std::move(plan);
  };
  const std::int64_t images = bytes_of_inputs(*request.graph) - bytes_of_inputs(*one.graph);
  const auto good = [&] { return within(request.budgets, *best) && is_near_computing(all, *best); };
  plan_beside(images);
  if (request.budgets.host > 0 && !options.quick && !good()) plan_beside(0);
  const std::int64_t notch = (request.budgets.device - all.persistent_bytes) / 20;
  for (int more = 1; more <= attempts && !within(request.budgets, *best) && one.budgets.device > least;
       ++more)
    plan_beside(images + more * notch);
  return *std::move(best);
}

}  // namespace voxswap::swap
