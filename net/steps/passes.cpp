#include "net/steps/passes.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// Updates that read an exchange, or modify a value that such an update reads.
class LateUpdates {
 public:
  explicit LateUpdates(const Graph& graph) : graph_(graph), read_(graph.values().size(), false) {}

  // Takes `update` if it is a late one. Call it in the graph's order.
  bool take(const Node& update) {
    NodeId exchange = none;
    for (const ValueId id : update.inputs)
      if (const NodeId maker = graph_.value(id).producer; maker != none && is_exchange(graph_.node(maker)))
        exchange = std::max(exchange, maker);
    for (const ValueId id : update.updates)
      if (read_[static_cast<std::size_t>(id)]) exchange = static_cast<NodeId>(graph_.nodes().size());
    if (exchange == none) return false;
    for (const ValueId id : update.inputs) read_[static_cast<std::size_t>(id)] = true;
    late_.emplace_back(exchange, update);
    return true;
  }

  // In the order of exchanges.
  void append_to(std::vector<Node>& order) {
    std::stable_sort(late_.begin(), late_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::pair<NodeId, Node>& update : late_) order.push_back(std::move(update.second));
  }

 private:
  const Graph& graph_;
  std::vector<bool> read_;                     // by a late update
  std::vector<std::pair<NodeId, Node>> late_;  // with the exchange it waits for
};

}  // namespace

void update_early(Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<NodeId> last_use(graph.values().size(),
                               none);  // last node that makes or reads it, updates excluded
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].phase == Phase::update) continue;
    for (const std::vector<ValueId>* ids : {&nodes[i].inputs, &nodes[i].outputs})
      for (ValueId id : *ids) last_use[static_cast<std::size_t>(id)] = static_cast<NodeId>(i);
  }
  std::vector<std::vector<Node>> after(nodes.size());
  LateUpdates late(graph);
  for (const Node& node : nodes) {
    if (node.phase != Phase::update) continue;
    if (late.take(node)) continue;
    NodeId position = none;
    for (const std::vector<ValueId>* ids : {&node.inputs, &node.updates})
      for (ValueId id : *ids) position = std::max(position, last_use[static_cast<std::size_t>(id)]);
    assert(position != none && "an update reads a gradient that some node makes");
    after[static_cast<std::size_t>(position)].push_back(node);
  }
  std::vector<Node> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].phase != Phase::update) order.push_back(nodes[i]);
    order.insert(order.end(), after[i].begin(), after[i].end());
  }
  late.append_to(order);
  graph.replace_nodes(std::move(order));
}

}  // namespace voxswap::net
