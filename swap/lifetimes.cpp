// Lifetimes in one pass over the node list, then sharing in place: an output takes over the place of an input
// that dies at its node. Chains need nothing extra: each link names the value before it.
#include "swap/lifetimes.h"

#include <algorithm>

#include "net/graph.h"
#include "net/operation.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

// Lets the outputs of `node` take over inputs that die there; an input is taken at most once.
void share_in_place(const Graph& graph, NodeId id, const std::vector<bool>& kept,
                    std::vector<Lifetime>& all) {
  const Node& node = graph.node(id);
  std::vector<ValueId> taken;
  for (const auto& [output, input] : node.operation->in_place) {
    if (index(output) >= node.outputs.size() || index(input) >= node.inputs.size()) continue;
    const ValueId to = node.outputs[index(output)], from = node.inputs[index(input)];
    if (all[index(to)].shares != none || kept[index(from)] || all[index(from)].last != id) continue;
    if (std::find(taken.begin(), taken.end(), from) != taken.end()) continue;
    if (!may_take_over(graph, node, to, from)) continue;
    all[index(to)].shares = from;
    taken.push_back(from);
  }
}

}  // namespace

bool may_take_over(const Graph& graph, const Node& node, ValueId output, ValueId input) {
  const Value& from = graph.value(input);
  if (from.persistent() || from.role == Role::input) return false;
  if (from.bytes() < graph.value(output).bytes()) return false;
  // Element over element: with another type the n-th output would lie over another input than the n-th.
  if (from.type != graph.value(output).type) return false;
  // Read twice, it may be needed in two places at different times of the same kernel.
  if (std::count(node.inputs.begin(), node.inputs.end(), input) != 1) return false;
  return std::any_of(
      node.operation->in_place.begin(), node.operation->in_place.end(), [&](const std::pair<int, int>& pair) {
        return index(pair.first) < node.outputs.size() && index(pair.second) < node.inputs.size() &&
               node.outputs[index(pair.first)] == output && node.inputs[index(pair.second)] == input;
      });
}

std::vector<Lifetime> lifetimes(const Graph& graph, const std::vector<ValueId>& kept) {
  const auto end = static_cast<NodeId>(graph.nodes().size()) - 1;
  std::vector<Lifetime> all(graph.values().size());
  std::vector<bool> used(all.size(), false), is_kept(all.size(), false);

  for (std::size_t id = 0; id < all.size(); ++id) {
    const Value& value = graph.values()[id];
    all[id].value = static_cast<ValueId>(id);
    all[id].bytes = value.bytes();
    if (!value.persistent()) continue;
    used[id] = true;
    all[id].last = end;
  }
  for (NodeId id = 0; id <= end; ++id) {
    const Node& node = graph.node(id);
    for (const ValueId value : node.outputs) {
      used[index(value)] = true;
      all[index(value)].first = all[index(value)].last = id;
    }
    for (const ValueId value : node.inputs) {
      used[index(value)] = true;
      all[index(value)].last = std::max(all[index(value)].last, id);
    }
  }
  for (const ValueId value : kept) {
    if (value == none) continue;
    used[index(value)] = is_kept[index(value)] = true;
    all[index(value)].last = end;
  }
  for (NodeId id = 0; id <= end; ++id) share_in_place(graph, id, is_kept, all);

  std::vector<Lifetime> result;
  for (std::size_t id = 0; id < all.size(); ++id)
    if (used[id]) result.push_back(all[id]);
  return result;
}

}  // namespace voxswap
