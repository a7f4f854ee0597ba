// Lifetimes and working sets, from the graph alone.
#include "swap/model/needs.h"

#include <algorithm>
#include <numeric>

#include "base/shape.h"
#include "swap/plan/arena.h"
#include "swap/plan/places.h"

namespace voxswap::swap {
namespace {

void find_lifetimes(const net::Graph& graph, const std::vector<net::ValueId>& kept, Needs& needs) {
  const auto end = static_cast<net::NodeId>(graph.nodes().size());
  needs.first.assign(graph.values().size(), net::none);
  needs.last.assign(graph.values().size(), net::none);
  for (net::NodeId id = 0; id < end; ++id) {
    for (const net::ValueId value : graph.node(id).outputs) needs.first[index(value)] = id;
    for (const net::ValueId value : graph.node(id).inputs)
      if (!graph.value(value).persistent()) needs.last[index(value)] = id;
  }
  for (const net::ValueId value : kept) {
    if (value == net::none || graph.value(value).persistent() || needs.last[index(value)] == end) continue;
    needs.last[index(value)] = end;
  }
  for (const net::Value& value : graph.values())
    if (value.persistent()) needs.persistent += occupied(value.bytes());
}

// The input that an output may overwrite, preferably one that dies; none otherwise.
net::ValueId shared_input(const net::Graph& graph, const Needs& needs, net::NodeId id, net::ValueId output,
                          const std::vector<net::ValueId>& taken) {
  net::ValueId found = net::none;
  for (const net::ValueId input : graph.node(id).inputs) {
    if (std::find(taken.begin(), taken.end(), input) != taken.end()) continue;
    if (!may_take_over(graph, graph.node(id), output, input)) continue;
    if (needs.last[index(input)] == id) return input;
    if (found == net::none) found = input;
  }
  return found;
}

WorkingSet working_set(const net::Graph& graph, std::int64_t workspace, const Needs& needs, net::NodeId id) {
  const net::Node& node = graph.node(id);
  WorkingSet set;
  set.bytes = workspace > 0 ? occupied(workspace) : 0;
  std::vector<net::ValueId> taken;
  for (const net::ValueId output : node.outputs) set.bytes += occupied(graph.value(output).bytes());
  set.least_bytes = set.bytes;
  for (const net::ValueId output : node.outputs) {
    const net::ValueId input = shared_input(graph, needs, id, output, taken);
    if (input == net::none) continue;
    taken.push_back(input);
    const std::int64_t bytes = occupied(graph.value(output).bytes());
    set.least_bytes -= bytes;
    if (needs.last[index(input)] == id) {
      set.bytes -= bytes;
      continue;
    }
    for (const net::ValueId other : node.inputs)
      if (may_take_over(graph, node, output, other)) set.may_leave.push_back(other);
  }
  std::vector<net::ValueId> inputs = node.inputs;
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  for (const net::ValueId input : inputs) {
    if (graph.value(input).persistent()) continue;
    const std::int64_t bytes = occupied(graph.value(input).bytes());
    set.bytes += bytes;
    set.least_bytes += bytes;
    set.inputs.push_back(input);
  }
  return set;
}

}  // namespace

Needs find_needs(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                 const std::vector<net::ValueId>& kept) {
  Needs needs;
  find_lifetimes(graph, kept, needs);
  for (net::NodeId id = 0; index(id) < graph.nodes().size(); ++id)
    needs.working.push_back(working_set(graph, workspaces[index(id)], needs, id));
  return needs;
}

std::vector<std::int64_t> bytes_across(const net::Graph& graph, const Needs& needs,
                                       const std::function<bool(net::ValueId)>& counts) {
  std::vector<std::int64_t> bytes(graph.nodes().size() + 1, 0);
  for (std::size_t id = 0; id < graph.values().size(); ++id) {
    const net::NodeId from = needs.first[id] + 1, until = needs.last[id];
    if (from >= until || (counts && !counts(static_cast<net::ValueId>(id)))) continue;
    bytes[index(from)] += graph.values()[id].bytes();
    bytes[index(until)] -= graph.values()[id].bytes();
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  for (net::NodeId node = 0; index(node) < graph.nodes().size(); ++node)
    for (const net::ValueId input : needs.working[index(node)].inputs)
      if (needs.across(input, node) && (!counts || counts(input)))
        bytes[index(node)] -= graph.value(input).bytes();
  return bytes;
}

}  // namespace voxswap::swap
