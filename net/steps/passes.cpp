#include "net/steps/passes.h"

#include <algorithm>
#include <cassert>

namespace voxswap::net {

void update_early(Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<NodeId> last_use(graph.values().size(), none);  // made or read by a node that is no update
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].phase == Phase::update) continue;
    for (const std::vector<ValueId>* ids : {&nodes[i].inputs, &nodes[i].outputs})
      for (ValueId id : *ids) last_use[static_cast<std::size_t>(id)] = static_cast<NodeId>(i);
  }
  std::vector<std::vector<Node>> after(nodes.size());
  for (const Node& node : nodes) {
    if (node.phase != Phase::update) continue;
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
  graph.replace_nodes(std::move(order));
}

}  // namespace voxswap::net
