#include "swap/planners/graph_facts.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/graph.h"
#include "net/graph/names.h"
#include "net/graph/operation.h"
#include "swap/model/needs.h"
#include "swap/model/volume_program.h"
#include "swap/plan/arena.h"
#include "swap/plan/places.h"

namespace voxswap::swap {
namespace {

void add_once(std::vector<std::int32_t>& list, std::int32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Whether the node's other outputs are at most a quarter of the value's bytes, such as the moments that a
// convolution computes for a norm. They are then recomputed with the value.
bool is_main_output(const net::Graph& graph, const net::Node& node, net::ValueId value) {
  std::int64_t others = -graph.value(value).bytes();
  for (const net::ValueId output : node.outputs) others += graph.value(output).bytes();
  return others <= graph.value(value).bytes() / 4;
}

NodeFacts node_facts(const PlanRequest& request, net::NodeId id) {
  const net::Graph& graph = *request.graph;
  const net::Node& node = graph.node(id);
  NodeFacts result;
  for (const net::ValueId value : node.inputs)
    add_once(graph.value(value).persistent() ? result.parameters : result.reads, value);
  for (const net::ValueId value : node.outputs) add_once(result.writes, value);
  for (const net::ValueId value : node.updates) add_once(result.updates, value);
  for (const auto& [output, input] : node.operation->in_place) {
    if (static_cast<std::size_t>(output) >= node.outputs.size() ||
        static_cast<std::size_t>(input) >= node.inputs.size())
      continue;
    const net::ValueId to = node.outputs[static_cast<std::size_t>(output)];
    const net::ValueId from = node.inputs[static_cast<std::size_t>(input)];
    if (may_take_over(graph, node, to, from)) result.in_place.emplace_back(to, from);
  }
  const std::int64_t workspace = request.workspaces[static_cast<std::size_t>(id)];
  result.workspace = workspace > 0 ? occupied(workspace) : 0;
  result.exchanges = net::is_exchange(node);
  if (request.costs != nullptr)
    (result.exchanges ? result.exchange_seconds : result.seconds) =
        request.costs->node_seconds[static_cast<std::size_t>(id)];
  for (const net::ValueId value : result.reads)
    if (const net::NodeId producer = graph.value(value).producer;
        producer != net::none && net::is_exchange(graph.node(producer)))
      add_once(result.awaited_exchanges, producer);
  return result;
}

}  // namespace

GraphFacts::GraphFacts(const PlanRequest& the_request) : request(&the_request) {
  const net::Graph& graph = *request->graph;
  for (const net::Value& value : graph.values()) {
    ValueFacts v;
    v.bytes = occupied(value.bytes());
    v.producer = value.producer;
    v.persistent = value.persistent();
    if (v.persistent) persistent_bytes += v.bytes;
    v.streamed = value.role == net::Role::input && value.producer == net::none;
    if (value.producer != net::none) {
      const net::Node& node = graph.node(value.producer);
      v.recomputable = node.phase == net::Phase::forward && node.updates.empty() && !net::is_exchange(node) &&
                       is_main_output(graph, node, static_cast<net::ValueId>(values.size()));
      v.gradient = node.phase != net::Phase::forward;
      v.cheap = v.recomputable && node.operation->cheap;
    }
    values.push_back(std::move(v));
  }
  for (const net::ValueId value : request->kept)
    if (value != net::none) values[static_cast<std::size_t>(value)].kept = true;
  for (net::NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    nodes.push_back(node_facts(*request, id));
    for (const net::ValueId value : nodes.back().reads)
      values[static_cast<std::size_t>(value)].readers.push_back(id);
    compute_seconds += nodes.back().seconds;
  }
  for (ValueFacts& value : values) {
    if (value.kept) value.recomputable = value.cheap = false;
    value.streamed = value.streamed || (value.kept && !value.persistent);
    value.first_gap = gaps;
    gaps += static_cast<GapId>(value.readers.size()) + 1;
    value_of_gap.resize(index(gaps), static_cast<net::ValueId>(&value - values.data()));
  }
  find_volumes();
  if (in_slabs) let_gradients_be_recomputed();
  find_passes();
}

// Recomputing a whole gradient saves nothing: its sources are as large and die with it. Slabs of it are worth
// recomputing one by one.
void GraphFacts::let_gradients_be_recomputed() {
  for (VolumeFacts& volume : volumes) {
    if (!volume.gradient || volume.slabs.size() == 1) continue;
    for (const net::ValueId slab : volume.slabs) {
      ValueFacts& value = values[index(slab)];
      if (value.kept || value.producer == net::none) continue;
      const net::Node& node = request->graph->node(value.producer);
      value.recomputable =
          is_main_output(*request->graph, node, slab) && node.updates.empty() && !net::is_exchange(node);
      volume.recomputable = volume.recomputable || value.recomputable;
    }
  }
}

void GraphFacts::find_passes() {
  pass.assign(nodes.size(), 0);
  if (!in_slabs || request->costs == nullptr) return;
  const Needs needs = find_needs(*request->graph, request->workspaces, request->kept);
  std::vector<double> seconds;
  for (const NodeFacts& node : nodes) seconds.push_back(node.seconds);
  const auto room = static_cast<double>(request->budgets.device - persistent_bytes);
  const std::vector<std::size_t> begins = find_segments(*request->graph, needs, seconds, room).begins;
  passes = begins.size();
  for (std::size_t i = 0; i < begins.size(); ++i)
    std::fill(pass.begin() + static_cast<std::ptrdiff_t>(begins[i]), pass.end(),
              static_cast<std::int32_t>(i));
}

void GraphFacts::find_volumes() {
  const net::Graph& graph = *request->graph;
  std::map<std::string, std::int32_t> by_name;
  for (net::ValueId id = 0; index(id) < values.size(); ++id) {
    const std::string& name = graph.value(id).name;
    const std::string volume = net::split_piece_name(name).volume;
    auto at = static_cast<std::int32_t>(volumes.size());
    if (volume != name) at = by_name.try_emplace(volume, at).first->second;
    if (index(at) == volumes.size()) volumes.emplace_back();
    values[index(id)].volume = at;
    VolumeFacts& v = volumes[index(at)];
    v.slabs.push_back(id);
    v.bytes += values[index(id)].bytes;
    v.recomputable = v.recomputable || values[index(id)].recomputable;
    v.gradient = v.gradient || values[index(id)].gradient;
    v.cheap = v.cheap || values[index(id)].cheap;
    in_slabs = in_slabs || v.slabs.size() > 1;
  }
  for (const ValueFacts& value : values) {
    if (value.producer == net::none) continue;
    for (const net::ValueId source : nodes[index(value.producer)].reads)
      add_once(volumes[index(value.volume)].sources, values[index(source)].volume);
  }
  for (VolumeFacts& volume : volumes) find_gaps(volume);
}

// Several slabs of an operation, whose windows overlap, read a slab in short succession. Only the gap before
// the first of them is worth a decision.
void GraphFacts::find_gaps(VolumeFacts& volume) {
  std::vector<std::string> known;
  volume.gaps.emplace_back();
  for (const net::ValueId id : volume.slabs) {
    const ValueFacts& value = values[index(id)];
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < value.readers.size(); ++i) {
      const std::string& name = request->graph->node(value.readers[i]).name;
      std::string reader = net::split_piece_name(name).volume;
      if (reader == name) reader = format("{}[]", i);  // not in slabs: a gap per reader
      if (std::find(seen.begin(), seen.end(), reader) != seen.end()) continue;
      const auto gap = std::find(known.begin(), known.end(), reader);
      const auto at = static_cast<std::size_t>(gap - known.begin());
      if (gap == known.end()) {
        known.push_back(reader);
        volume.gaps.insert(volume.gaps.end() - 1, std::vector<GapId>{});
      }
      volume.gaps[at].push_back(value.first_gap + static_cast<GapId>(i));
      seen.push_back(std::move(reader));
    }
    volume.gaps.back().push_back(value.first_gap + static_cast<GapId>(value.readers.size()));
  }
}

}  // namespace voxswap::swap
