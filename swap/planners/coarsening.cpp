#include "swap/planners/coarsening.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/names.h"

namespace voxswap::swap {
namespace {

std::string volume_of(const std::string& name) {
  return net::split_piece_name(name).volume;
}

// The nodes of an operation, summed over slabs.
struct Operation {
  double seconds = 0;
  std::int64_t workspace = 0;
};

std::map<std::string, Operation> operations_of(const PlanRequest& request) {
  std::map<std::string, Operation> operations;
  for (std::size_t id = 0; id < request.graph->nodes().size(); ++id) {
    Operation& operation = operations[volume_of(request.graph->nodes()[id].name)];
    operation.seconds += request.costs->node_seconds[id];
    operation.workspace = std::max(operation.workspace, request.workspaces[id]);
  }
  return operations;
}

// The gap before the first node of every operation that reads a value.
std::map<std::string, GapId> gaps_by_reader(const GraphFacts& facts, net::ValueId id) {
  const ValueFacts& value = facts.values[index(id)];
  std::map<std::string, GapId> gaps;
  for (std::size_t i = 0; i < value.readers.size(); ++i)
    gaps.emplace(volume_of(facts.request->graph->node(value.readers[i]).name),
                 value.first_gap + static_cast<GapId>(i));
  return gaps;
}

GapId last_gap(const ValueFacts& value) {
  return value.first_gap + static_cast<GapId>(value.readers.size());
}

// Slabs by volume and number.
using Volumes = std::map<std::string, std::map<std::size_t, net::ValueId>>;

Volumes volumes_of(const GraphFacts& facts) {
  Volumes volumes;
  for (net::ValueId id = 0; index(id) < facts.values.size(); ++id) {
    const net::PieceName name = net::split_piece_name(facts.request->graph->value(id).name);
    volumes[name.volume][name.number()] = id;
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

StepInFewerSlabs::StepInFewerSlabs(const PlanRequest& finer) : costs(*finer.costs), request(finer) {
  request.graph = finer.in_fewer_slabs;
  request.in_fewer_slabs = nullptr;
  request.costs = &costs;
  const std::map<std::string, Operation> operations = operations_of(finer);
  std::map<std::string, int> counts;
  for (const net::Node& node : request.graph->nodes()) ++counts[volume_of(node.name)];
  costs.node_seconds.clear();
  request.workspaces.clear();
  for (const net::Node& node : request.graph->nodes()) {
    const std::string name = volume_of(node.name);
    const auto found = operations.find(name);
    const Operation operation = found == operations.end() ? Operation{} : found->second;
    costs.node_seconds.push_back(operation.seconds / counts[name]);
    request.workspaces.push_back(operation.workspace);
  }
  std::map<std::string, bool> kept;
  for (const net::ValueId id : finer.kept)
    if (id != net::none) kept[volume_of(finer.graph->value(id).name)] = true;
  request.kept.clear();
  for (net::ValueId id = 0; index(id) < request.graph->values().size(); ++id)
    if (kept.count(volume_of(request.graph->value(id).name)) > 0) request.kept.push_back(id);
}

Decisions for_finer(const GraphFacts& coarse, const Decisions& decisions, const GraphFacts& fine) {
  Decisions result = keep_everything(fine);
  result.reserve = decisions.reserve;
  result.reuse_window = decisions.reuse_window;
  const std::vector<std::size_t> passes = passes_of(fine, coarse);
  const Volumes of_coarse = volumes_of(coarse);
  for (const auto& [name, slabs] : volumes_of(fine)) {
    const auto found = of_coarse.find(name);
    if (found == of_coarse.end()) continue;
    for (const auto& [number, id] : slabs) {
      const std::size_t at = (2 * number + 1) * found->second.size() / (2 * slabs.size());
      const auto slab = found->second.find(at);
      if (slab == found->second.end()) continue;
      const ValueFacts &value = fine.values[index(id)], &from = coarse.values[index(slab->second)];
      result.recompute_per_use[index(id)] = decisions.recompute_per_use[index(slab->second)];
      result.eviction_bias[index(id)] = decisions.eviction_bias[index(slab->second)];
      for (std::size_t pass = 0; pass < fine.passes; ++pass)
        result.retain[index(id) * fine.passes + pass] =
            decisions.retain[index(slab->second) * coarse.passes + passes[pass]];
      result.recompute[index(last_gap(value))] = decisions.recompute[index(last_gap(from))];
      const std::map<std::string, GapId> gaps = gaps_by_reader(coarse, slab->second);
      for (const auto& [reader, gap] : gaps_by_reader(fine, id))
        if (const auto same = gaps.find(reader); same != gaps.end())
          result.recompute[index(gap)] = decisions.recompute[index(same->second)];
    }
  }
  return result;
}

}  // namespace voxswap::swap
