// Communication between ranks: the sum over a batch (all-reduce), and planes of slabs that another rank needs
// (send and receive). No backend's table contains these. net/collective makes their
// kernels (docs/explanation/ranks.md).
#include <algorithm>

#include "net/graph/send_receive.h"
#include "net/ops/ops.h"

namespace voxswap::net {

namespace {

ops::Specs infer(const Graph& graph, const ops::Ids& inputs, const Attributes& attributes) {
  const auto parts = static_cast<std::size_t>(attributes.integer("parts"));
  assert(parts > 0 && !inputs.empty() && inputs.size() % parts == 0);
  ops::Specs sums;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value &first = graph.value(inputs[i / parts * parts]), &part = graph.value(inputs[i]);
    assert(part.shape == first.shape && part.type == first.type);
    assert(part.type == ElementType::f32 || part.type == ElementType::f64);
    if (i % parts == 0) sums.push_back({first.shape, first.type});
  }
  return sums;
}

}  // namespace

// parts of the first sum, of the second, … (full, equally many of each) -> sums over the batch; the first
// over its first part. Attributes parts (of a sum on this rank), batch (samples of all ranks).
const Operation& exchange_operation() {
  static const Operation operation = {"exchange", infer, nullptr, nullptr, ops::whole, {{0, 0}}};
  return operation;
}

namespace {

ops::Specs infer_received(const Graph& graph, const ops::Ids& inputs, const Attributes& attributes) {
  const SendReceive node = send_receive_of(attributes);
  assert(node.sent.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    [[maybe_unused]] const Shape& shape = graph.value(inputs[i]).shape;
    assert(shape.rank() > 1 && node.sent[i].from >= 0 && node.sent[i].from < node.sent[i].to &&
           node.sent[i].to <= shape[1]);
  }
  if (!node.received.empty()) return node.received;
  return {{Shape{1}, ElementType::u8}};
}

}  // namespace

// values to send -> values received (net/graph/send_receive.h).
const Operation& send_receive_operation() {
  static const Operation operation = {"send_receive", infer_received, nullptr, nullptr, ops::whole};
  return operation;
}

bool is_exchange(const Node& node) {
  return node.operation == &exchange_operation() || node.operation == &send_receive_operation();
}

bool reads_exchange(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    const NodeId maker = graph.value(input).producer;
    return maker != none && is_exchange(graph.node(maker));
  });
}

}  // namespace voxswap::net
