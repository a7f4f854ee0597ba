#include "net/graph/graph.h"

#include <array>
#include <cassert>

#include "base/text.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// Outputs of the backward pass are gradients. Otherwise volumes are activations, everything smaller is a
// statistic.
Role output_role(Phase phase, const Shape& shape) {
  if (phase == Phase::backward) return Role::gradient;
  return shape.rank() == 5 ? Role::activation : Role::statistic;
}

std::string_view phase_name(Phase phase) {
  constexpr std::array<std::string_view, 4> names = {"forward", "loss", "backward", "update"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace

ValueId Graph::add_value(Origin origin, Shape shape, ElementType type, Role role) {
  std::string name = origin.text();
  values_.push_back({std::move(name), std::move(shape), type, role, none, std::move(origin)});
  return static_cast<ValueId>(values_.size() - 1);
}

NodeId Graph::add(std::string_view operation, Origin origin, std::vector<ValueId> inputs,
                  Attributes attributes, std::vector<ValueId> updates) {
  for (const std::vector<ValueId>* ids : {&inputs, &updates})
    for (ValueId id : *ids) assert(id >= 0 && static_cast<std::size_t>(id) < values_.size());
  for (ValueId id : updates) assert(value(id).persistent());

  Node node{origin.text(),
            &find_operation(operation),
            std::move(attributes),
            std::move(inputs),
            {},
            std::move(updates),
            phase,
            std::move(origin)};
  const NodeId id = static_cast<NodeId>(nodes_.size());
  for (const ValueSpec& spec : node.operation->infer(*this, node.inputs, node.attributes)) {
    const std::string suffix = node.outputs.empty() ? std::string() : format(".{}", node.outputs.size());
    const ValueId output =
        add_value(node.origin.with_suffix(suffix), spec.shape, spec.type, output_role(phase, spec.shape));
    values_.back().name = node.name + suffix;
    values_.back().producer = id;
    node.outputs.push_back(output);
  }
  nodes_.push_back(std::move(node));
  return id;
}

ValueId Graph::apply(std::string_view operation, Origin origin, std::vector<ValueId> inputs,
                     Attributes attributes) {
  const NodeId id = add(operation, std::move(origin), std::move(inputs), std::move(attributes));
  assert(node(id).outputs.size() == 1);
  return node(id).outputs.front();
}

void Graph::replace_nodes(std::vector<Node> nodes) {
  std::vector<bool> made_by_node(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    made_by_node[i] = values_[i].producer != none;
    values_[i].producer = none;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId input : nodes[i].inputs)
      assert((!made_by_node[static_cast<std::size_t>(input)] || value(input).producer != none) &&
             "a node reads only values of earlier nodes");
    for (ValueId output : nodes[i].outputs)
      values_[static_cast<std::size_t>(output)].producer = static_cast<NodeId>(i);
  }
  nodes_ = std::move(nodes);
}

std::vector<ValueId> Graph::with_role(Role role) const {
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].role == role) ids.push_back(static_cast<ValueId>(i));
  return ids;
}

std::string Graph::text() const {
  const auto names = [this](const std::vector<ValueId>& ids) {
    std::vector<std::string> result;
    for (ValueId id : ids) result.push_back(value(id).name);
    return join(result, ", ");
  };
  std::string result;
  for (const Node& node : nodes_) {
    result +=
        format("{} {} = {}({})", phase_name(node.phase), node.name, node.operation->name, names(node.inputs));
    for (const auto& [name, number_value] : node.attributes.values())
      result += format(" {}={}", name, number(number_value));
    for (ValueId id : node.outputs)
      result += format(" -> {} {}", value(id).shape.text(), element_name(value(id).type));
    if (!node.updates.empty()) result += format(" updates {}", names(node.updates));
    result += "\n";
  }
  return result;
}

double node_flops(const Graph& graph, const Node& node) {
  return node.operation->flops == nullptr ? 0 : node.operation->flops(graph, node);
}

std::int64_t node_bytes(const Graph& graph, const Node& node) {
  if (node.operation->bytes != nullptr) return node.operation->bytes(graph, node);
  std::int64_t bytes = 0;
  for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs, &node.updates})
    for (ValueId id : *ids) bytes += graph.value(id).bytes();
  return bytes;
}

}  // namespace voxswap::net
