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

// Whether what the node makes is the value, and at most a quarter of its bytes beside it, as a convolution
// makes the moments of its planes: those are then made again as well.
bool makes_mainly(const net::Graph& graph, const net::Node& node, net::ValueId value) {
  std::int64_t beside = -graph.value(value).bytes();
  for (const net::ValueId output : node.outputs) beside += graph.value(output).bytes();
  return beside <= graph.value(value).bytes() / 4;
}

NodeFacts digest_node(const PlanRequest& request, net::NodeId id) {
  const net::Graph& graph = *request.graph;
  const net::Node& node = graph.node(id);
  NodeFacts result;
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
  result.exchanges = net::is_exchange(node);
  if (request.costs != nullptr)
    (result.exchanges ? result.exchange_seconds : result.seconds) =
        request.costs->node_seconds[static_cast<std::size_t>(id)];
  for (const net::ValueId value : result.reads)
    if (const net::NodeId maker = graph.value(value).producer;
        maker != net::none && net::is_exchange(graph.node(maker)))
      add_once(result.awaits, maker);
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
    v.streams = value.role == net::Role::input && value.producer == net::none;
    if (value.producer != net::none) {
      const net::Node& node = graph.node(value.producer);
      v.repeatable = node.phase == net::Phase::forward && node.updates.empty() && !net::is_exchange(node) &&
                     makes_mainly(graph, node, static_cast<net::ValueId>(values.size()));
      v.gradient = node.phase != net::Phase::forward;
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
  for (ValueFacts& value : values) {
    if (value.kept) value.repeatable = value.cheap = false;
    value.streams = value.streams || (value.kept && !value.persistent);
    value.first_gap = gaps;
    gaps += static_cast<GapId>(value.readers.size()) + 1;
    value_of_gap.resize(index(gaps), static_cast<net::ValueId>(&value - values.data()));
  }
  find_volumes();
  if (in_pieces) let_gradients_repeat();
  find_passes();
}

// Of whole volumes that saves nothing: what a gradient is made of is no smaller, and dies with it. Pieces of
// it are made again one by one.
void GraphFacts::let_gradients_repeat() {
  for (VolumeFacts& volume : volumes) {
    if (!volume.gradient || volume.pieces.size() == 1) continue;
    for (const net::ValueId piece : volume.pieces) {
      ValueFacts& value = values[index(piece)];
      if (value.kept || value.producer == net::none) continue;
      const net::Node& node = request->graph->node(value.producer);
      value.repeatable =
          makes_mainly(*request->graph, node, piece) && node.updates.empty() && !net::is_exchange(node);
      volume.repeatable = volume.repeatable || value.repeatable;
    }
  }
}

void GraphFacts::find_passes() {
  pass.assign(nodes.size(), 0);
  if (!in_pieces || request->costs == nullptr) return;
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
    v.pieces.push_back(id);
    v.bytes += values[index(id)].bytes;
    v.repeatable = v.repeatable || values[index(id)].repeatable;
    v.gradient = v.gradient || values[index(id)].gradient;
    v.cheap = v.cheap || values[index(id)].cheap;
    in_pieces = in_pieces || v.pieces.size() > 1;
  }
  for (const ValueFacts& value : values) {
    if (value.producer == net::none) continue;
    for (const net::ValueId source : nodes[index(value.producer)].reads)
      add_once(volumes[index(value.volume)].sources, values[index(source)].volume);
  }
  for (VolumeFacts& volume : volumes) find_gaps(volume);
}

// A piece is read by several pieces of one operation, whose windows overlap, one soon after the other: what
// is dropped, is dropped before the first of them.
void GraphFacts::find_gaps(VolumeFacts& volume) {
  std::vector<std::string> known;
  volume.gaps.emplace_back();
  for (const net::ValueId id : volume.pieces) {
    const ValueFacts& value = values[index(id)];
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < value.readers.size(); ++i) {
      const std::string& name = request->graph->node(value.readers[i]).name;
      std::string reader = net::split_piece_name(name).volume;
      if (reader == name) reader = format("{}[]", i);  // a gap of its own
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
