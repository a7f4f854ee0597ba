// The graph: values and nodes, by index, in execution order. One flat list holds a whole step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

struct Operation;  // net/graph/operation.h

struct Node {
  std::string name;  // for people
  const Operation* operation = nullptr;
  Attributes attributes;
  std::vector<ValueId> inputs;   // read
  std::vector<ValueId> outputs;  // written
  std::vector<ValueId> updates;  // persistent values read and written in place
  Phase phase = Phase::forward;
  Origin origin = {};
};

class Graph {
 public:
  // Adds a value that no node makes: input, parameter or optimiser state.
  ValueId add_value(Origin origin, Shape shape, ElementType type, Role role);

  // Appends a node and returns its id. The operation infers shapes and types of its outputs, which are named
  // `name`, `name.1`, … REQUIRES: the operation is in the table, the inputs exist.
  NodeId add(std::string_view operation, Origin origin, std::vector<ValueId> inputs,
             Attributes attributes = {}, std::vector<ValueId> updates = {});
  // The same for operations with one output. Returns that value.
  ValueId apply(std::string_view operation, Origin origin, std::vector<ValueId> inputs,
                Attributes attributes = {});

  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }

  Phase phase = Phase::forward;  // of nodes added from now on; decides the role of their outputs

  // Replaces the nodes, by others or in another order (for graph passes), and sets the producers again.
  // Values that no node makes or reads any more keep their ids. REQUIRES: every node reads only values made
  // before it.
  void replace_nodes(std::vector<Node> nodes);

  std::vector<ValueId> with_role(Role role) const;  // in order of id
  std::string text() const;                         // one line per node, for people and tests

 private:
  std::vector<Value> values_;
  std::vector<Node> nodes_;
};

double node_flops(const Graph& graph, const Node& node);
std::int64_t node_bytes(const Graph& graph, const Node& node);

}  // namespace voxswap::net
