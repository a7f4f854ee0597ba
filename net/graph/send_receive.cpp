#include "net/graph/send_receive.h"

#include "base/text.h"

namespace voxswap::net {

Attributes attributes_of(const SendReceive& node) {
  Attributes attributes;
  const auto set = [&](const std::string& name, std::int64_t value) {
    attributes.set(name, static_cast<double>(value));
  };
  set("other", node.other);
  set("sent", static_cast<std::int64_t>(node.sent.size()));
  set("received", static_cast<std::int64_t>(node.received.size()));
  for (std::size_t i = 0; i < node.sent.size(); ++i) {
    set(format("from_{}", i), node.sent[i].from);
    set(format("to_{}", i), node.sent[i].to);
  }
  for (std::size_t i = 0; i < node.received.size(); ++i) {
    const std::vector<std::int64_t>& sides = node.received[i].shape.extents();
    set(format("type_{}", i), static_cast<std::int64_t>(node.received[i].type));
    set(format("rank_{}", i), static_cast<std::int64_t>(sides.size()));
    for (std::size_t axis = 0; axis < sides.size(); ++axis) set(format("side_{}_{}", i, axis), sides[axis]);
  }
  return attributes;
}

SendReceive send_receive_of(const Attributes& attributes) {
  SendReceive node;
  node.other = attributes.integer("other");
  for (std::int64_t i = 0; i < attributes.integer("sent"); ++i)
    node.sent.push_back({attributes.integer(format("from_{}", i)), attributes.integer(format("to_{}", i))});
  for (std::int64_t i = 0; i < attributes.integer("received"); ++i) {
    std::vector<std::int64_t> sides;
    for (std::int64_t axis = 0; axis < attributes.integer(format("rank_{}", i)); ++axis)
      sides.push_back(attributes.integer(format("side_{}_{}", i, axis)));
    node.received.push_back(
        {Shape(sides), static_cast<ElementType>(attributes.integer(format("type_{}", i)))});
  }
  return node;
}

std::int64_t bytes_of_planes(const Value& value, Planes planes) {
  return value.shape[0] * planes.count() * value.shape.count_from(2) * element_bytes(value.type);
}

std::int64_t sent_bytes(const Graph& graph, const Node& node) {
  const SendReceive of = send_receive_of(node.attributes);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < of.sent.size(); ++i)
    bytes += bytes_of_planes(graph.value(node.inputs[i]), of.sent[i]);
  return bytes;
}

}  // namespace voxswap::net
