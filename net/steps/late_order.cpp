#include "net/steps/late_order.h"

#include <algorithm>

#include "base/index.h"

namespace voxswap::net {
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
