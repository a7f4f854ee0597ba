#include "swap/planners/digest.h"

#include <algorithm>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/plan/arena.h"
#include "swap/plan/in_place.h"

namespace voxswap::swap {
namespace {

void add_once(std::vector<net::ValueId>& list, net::ValueId value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

DigestNode digest_node(const PlanRequest& request, net::NodeId id) {
  const net::Graph& graph = *request.graph;
  const net::Node& node = graph.node(id);
  DigestNode result;
  for (const net::ValueId value : node.inputs)
    add_once(graph.value(value).persistent() ? result.parameters : result.reads, value);
  for (const net::ValueId value : node.outputs) add_once(result.makes, value);
  for (const net::ValueId value : node.updates) add_once(result.updates, value);
  for (const auto& [output, input] : node.operation->in_place) {
    if (static_cast<std::size_t>(output) >= node.outputs.size() ||
        static_cast<std::size_t>(input) >= node.inputs.size())
      continue;
    const net::ValueId to = node.outputs[static_cast<std::size_t>(output)];
    const net::ValueId from = node.inputs[static_cast<std::size_t>(input)];
    if (may_take_over(graph, node, to, from)) result.over.emplace_back(to, from);
  }
  const std::int64_t workspace = request.workspaces[static_cast<std::size_t>(id)];
  result.workspace = workspace > 0 ? occupied(workspace) : 0;
  if (request.costs != nullptr) result.seconds = request.costs->node_seconds[static_cast<std::size_t>(id)];
  return result;
}

}  // namespace

Digest::Digest(const PlanRequest& the_request) : request(&the_request) {
  const net::Graph& graph = *request->graph;
  for (const net::Value& value : graph.values()) {
    DigestValue v;
    v.bytes = occupied(value.bytes());
    v.producer = value.producer;
    v.persistent = value.persistent();
    if (v.persistent) persistent_bytes += v.bytes;
    if (value.producer != net::none) {
      const net::Node& node = graph.node(value.producer);
      v.repeatable = node.phase == net::Phase::forward && node.outputs.size() == 1 && node.updates.empty();
      v.cheap = v.repeatable && node.operation->cheap;
    }
    values.push_back(std::move(v));
  }
  for (const net::ValueId value : request->kept)
    if (value != net::none) values[static_cast<std::size_t>(value)].kept = true;
  for (net::NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    nodes.push_back(digest_node(*request, id));
    for (const net::ValueId value : nodes.back().reads)
      values[static_cast<std::size_t>(value)].readers.push_back(id);
    compute_seconds += nodes.back().seconds;
  }
  for (DigestValue& value : values) {
    if (value.kept) value.repeatable = value.cheap = false;
    value.first_gap = gaps;
    gaps += static_cast<GapId>(value.readers.size()) + 1;
  }
}

}  // namespace voxswap::swap
