#include "swap/planners/coarsening.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/origin.h"

namespace voxswap::swap {
namespace {

// One more than the largest number.
std::size_t count_of(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::int32_t most = net::none;
  for (const auto* numbers : {&a, &b})
    for (const std::int32_t number : *numbers) most = std::max(most, number);
  return index(most) + 1;
}

// The gap before the first node of every operation that reads a value.
std::map<std::int32_t, GapId> gaps_by_reader(const GraphFacts& facts, const net::VolumeNumbers& numbers,
                                             net::ValueId id) {
  const ValueFacts& value = facts.values[index(id)];
  std::map<std::int32_t, GapId> gaps;
  for (std::size_t i = 0; i < value.readers.size(); ++i)
    gaps.emplace(numbers.nodes[index(value.readers[i])], value.first_gap + static_cast<GapId>(i));
  return gaps;
}

GapId last_gap(const ValueFacts& value) {
  return value.first_gap + static_cast<GapId>(value.readers.size());
}

std::size_t slab_of(const GraphFacts& facts, net::ValueId id) {
  return index(std::max(facts.problem->graph->value(id).origin.slab, 0));
}

// The values of every volume, by slab.
std::vector<std::vector<net::ValueId>> slabs_of(const GraphFacts& facts, const net::VolumeNumbers& numbers,
                                                std::size_t count) {
  std::vector<std::vector<net::ValueId>> volumes(count);
  for (net::ValueId id = 0; index(id) < facts.values.size(); ++id) {
    std::vector<net::ValueId>& slabs = volumes[index(numbers.values[index(id)])];
    slabs.resize(std::max(slabs.size(), slab_of(facts, id) + 1), net::none);
    slabs[slab_of(facts, id)] = id;
  }
  return volumes;
}

// For every pass of `fine`, the pass of `coarse` that runs at the same fraction of the compute time.
std::vector<std::size_t> passes_of(const GraphFacts& fine, const GraphFacts& coarse) {
  const auto ends = [](const GraphFacts& facts) {
    std::vector<double> seconds(facts.passes, 0);
    for (std::size_t id = 0; id < facts.nodes.size(); ++id)
      seconds[index(facts.pass[id])] += facts.nodes[id].seconds / facts.compute_seconds;
    for (std::size_t i = 1; i < seconds.size(); ++i) seconds[i] += seconds[i - 1];
    return seconds;
  };
  const std::vector<double> of_fine = ends(fine), of_coarse = ends(coarse);
  std::vector<std::size_t> passes;
  for (std::size_t i = 0; i < of_fine.size(); ++i) {
    const double middle = (of_fine[i] + (i > 0 ? of_fine[i - 1] : 0)) / 2;
    const auto at = std::lower_bound(of_coarse.begin(), of_coarse.end() - 1, middle) - of_coarse.begin();
    passes.push_back(static_cast<std::size_t>(at));
  }
  return passes;
}

}  // namespace

StepInFewerSlabs::StepInFewerSlabs(const StepProblem& finer) : costs(*finer.costs), problem(finer) {
  problem.graph = finer.in_fewer_slabs;
  problem.in_fewer_slabs = nullptr;
  problem.costs = &costs;
  const auto [fine, coarse] = net::number_volumes(*finer.graph, *problem.graph);
  struct Operation {  // summed over slabs
    double seconds = 0;
    std::int64_t workspace = 0;
    int nodes = 0;  // in `coarse`
  };
  std::vector<Operation> operations(count_of(fine.nodes, coarse.nodes));
  for (std::size_t id = 0; id < fine.nodes.size(); ++id) {
    Operation& operation = operations[index(fine.nodes[id])];
    operation.seconds += finer.costs->node_seconds[id];
    operation.workspace = std::max(operation.workspace, finer.workspaces[id]);
  }
  for (const std::int32_t number : coarse.nodes) ++operations[index(number)].nodes;
  costs.node_seconds.clear();
  problem.workspaces.clear();
  for (const std::int32_t number : coarse.nodes) {
    const Operation& operation = operations[index(number)];
    costs.node_seconds.push_back(operation.seconds / operation.nodes);
    problem.workspaces.push_back(operation.workspace);
  }
  std::vector<bool> kept(count_of(fine.values, coarse.values), false);
  for (const net::ValueId id : finer.kept)
    if (id != net::none) kept[index(fine.values[index(id)])] = true;
  problem.kept.clear();
  for (net::ValueId id = 0; index(id) < coarse.values.size(); ++id)
    if (kept[index(coarse.values[index(id)])]) problem.kept.push_back(id);
}

Decisions for_finer(const GraphFacts& coarse, const Decisions& decisions, const GraphFacts& fine) {
  Decisions result = keep_everything(fine);
  result.reserve = decisions.reserve;
  result.reuse_window = decisions.reuse_window;
  const std::vector<std::size_t> passes = passes_of(fine, coarse);
  const auto [of_fine, of_coarse] = net::number_volumes(*fine.problem->graph, *coarse.problem->graph);
  const std::size_t count = count_of(of_fine.values, of_coarse.values);
  const std::vector<std::vector<net::ValueId>> fine_slabs = slabs_of(fine, of_fine, count),
                                               coarse_slabs = slabs_of(coarse, of_coarse, count);
  for (net::ValueId id = 0; index(id) < fine.values.size(); ++id) {
    const std::size_t volume = index(of_fine.values[index(id)]);
    const std::vector<net::ValueId>& candidates = coarse_slabs[volume];
    const std::size_t at = (2 * slab_of(fine, id) + 1) * candidates.size() / (2 * fine_slabs[volume].size());
    if (at >= candidates.size() || candidates[at] == net::none) continue;
    const net::ValueId slab = candidates[at];
    const ValueFacts &value = fine.values[index(id)], &from = coarse.values[index(slab)];
    copy_value_decisions({coarse, slab}, decisions, {fine, id}, passes, result);
    result.recompute[index(last_gap(value))] = decisions.recompute[index(last_gap(from))];
    const std::map<std::int32_t, GapId> gaps = gaps_by_reader(coarse, of_coarse, slab);
    for (const auto& [reader, gap] : gaps_by_reader(fine, of_fine, id))
      if (const auto same = gaps.find(reader); same != gaps.end())
        result.recompute[index(gap)] = decisions.recompute[index(same->second)];
  }
  return result;
}

}  // namespace voxswap::swap
