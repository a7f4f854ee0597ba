#include "net/steps/passes.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/shape.h"
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
    assert(position != none && "an update reads a gradient that a node computes");
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

namespace {

class Order {
 public:
  Order(const Graph& graph, const std::function<bool(ValueId)>& is_volume)
      : graph_(graph),
        is_volume_(is_volume),
        first_reader_(graph.values().size(), end()),
        last_reader_(graph.values().size(), none),
        update_(graph.values().size(), end()) {
    for (NodeId id = 0; id < end(); ++id) {
      for (const ValueId value : graph.node(id).inputs) {
        first_reader_[index(value)] = std::min(first_reader_[index(value)], id);
        last_reader_[index(value)] = id;
      }
      for (const ValueId value : graph.node(id).updates)
        update_[index(value)] = std::min(update_[index(value)], id);
    }
  }

  // Late nodes that wait for the same node come before it in their old order.
  std::vector<NodeId> run() const {
    std::vector<std::vector<NodeId>> before(graph_.nodes().size());
    std::vector<NodeId> order;
    for (NodeId id = 0; id < end(); ++id)
      if (const NodeId wanted = wanted_by(id); wanted > id + 1) before[index(wanted)].push_back(id);
    std::vector<bool> waits(graph_.nodes().size(), false);
    for (const std::vector<NodeId>& nodes : before)
      for (const NodeId id : nodes) waits[index(id)] = true;
    const std::function<void(NodeId)> add = [&](NodeId id) {
      for (const NodeId late : before[index(id)]) add(late);
      order.push_back(id);
    };
    for (NodeId id = 0; id < end(); ++id)
      if (!waits[index(id)]) add(id);
    return order;
  }

 private:
  NodeId end() const { return static_cast<NodeId>(graph_.nodes().size()); }

  // The node just before which this one should run; the node itself if it keeps its place.
  NodeId wanted_by(NodeId id) const {
    const Node& node = graph_.node(id);
    NodeId wanted = end();
    for (const ValueId output : node.outputs) {
      if (!is_volume_(output)) return id;
      wanted = std::min(wanted, first_reader_[index(output)]);
    }
    if (node.outputs.empty() || !node.updates.empty() || wanted == end()) return id;
    for (const ValueId input : node.inputs) {
      if (update_[index(input)] < wanted) return id;
      if (is_volume_(input) && last_reader_[index(input)] < wanted) return id;
    }
    return wanted;
  }

  const Graph& graph_;
  const std::function<bool(ValueId)>& is_volume_;
  std::vector<NodeId> first_reader_, last_reader_,
      update_;  // per value; update: the first node that updates it
};

}  // namespace

std::vector<NodeId> late_order(const Graph& graph, const std::function<bool(ValueId)>& is_volume) {
  return Order(graph, is_volume).run();
}

}  // namespace voxswap::net
