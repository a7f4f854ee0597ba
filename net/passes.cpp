#include "net/passes.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "net/operation.h"

namespace voxswap {

namespace {

// Copies of cheap forward values for the backward nodes, one reader at a time.
class Recomputation {
 public:
  explicit Recomputation(Graph& graph) : graph_(graph), nodes_before_(graph.nodes()) {}

  std::vector<Node> order() {
    for (Node& node : nodes_before_) {
      if (node.phase == Phase::backward) {
        copies_.clear();
        for (ValueId& input : node.inputs) input = copy_or_kept(input);
      }
      order_.push_back(node);
    }
    return std::move(order_);
  }

 private:
  bool worth_computing_again(ValueId id) const {
    const NodeId producer = graph_.value(id).producer;
    if (producer == none) return false;
    const Node& node = graph_.node(producer);
    return node.phase == Phase::forward && node.operation->cheap;
  }

  // The value itself where it is kept anyway, else a copy made of such values. Depth first: a copy is made
  // just before it is read, so few of them live at the same time.
  ValueId copy_or_kept(ValueId id) {
    if (!worth_computing_again(id)) return id;
    if (const auto made = copies_.find(id); made != copies_.end()) return made->second;
    const Node producer = graph_.node(graph_.value(id).producer);
    assert(producer.outputs.size() == 1 && producer.updates.empty());
    std::vector<ValueId> inputs;
    for (ValueId input : producer.inputs) inputs.push_back(copy_or_kept(input));
    const ValueId copy =
        graph_.apply(producer.operation->name, format("{}.again.{}", producer.name, ++times_[id]),
                     std::move(inputs), producer.attributes);
    order_.push_back(graph_.nodes().back());
    copies_[id] = copy;
    return copy;
  }

  Graph& graph_;
  std::vector<Node> nodes_before_, order_;
  std::map<ValueId, ValueId> copies_;  // of the reader at hand
  std::map<ValueId, int> times_;
};

}  // namespace

void recompute_cheap_values(Graph& graph) {
  const Phase phase_before = graph.phase;
  graph.phase = Phase::backward;
  graph.replace_nodes(Recomputation(graph).order());
  graph.phase = phase_before;
}

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

}  // namespace voxswap
