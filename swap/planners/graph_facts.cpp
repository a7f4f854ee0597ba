#include "swap/planners/graph_facts.h"

#include <algorithm>

#include "base/shape.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/origin.h"
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

NodeFacts node_facts(const StepProblem& problem, net::NodeId id) {
  const net::Graph& graph = *problem.graph;
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
  const std::int64_t workspace = problem.workspaces[static_cast<std::size_t>(id)];
  result.workspace = workspace > 0 ? occupied(workspace) : 0;
  result.exchanges = net::is_exchange(node);
  if (problem.costs != nullptr)
    (result.exchanges ? result.exchange_seconds : result.seconds) =
        problem.costs->node_seconds[static_cast<std::size_t>(id)];
  for (const net::ValueId value : result.reads)
    if (const net::NodeId producer = graph.value(value).producer;
        producer != net::none && net::is_exchange(graph.node(producer)))
      add_once(result.awaited_exchanges, producer);
  return result;
}

}  // namespace

GraphFacts::GraphFacts(const StepProblem& the_problem) : problem(&the_problem) {
  const net::Graph& graph = *problem->graph;
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
  for (const net::ValueId value : problem->kept)
    if (value != net::none) values[static_cast<std::size_t>(value)].kept = true;
  for (net::NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    nodes.push_back(node_facts(*problem, id));
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
  if (in_slabs) mark_gradient_slabs_recomputable();
  find_passes();
}

// Recomputing a whole gradient saves nothing: its sources are as large and die with it. Slabs of it are worth
// recomputing one by one.
void GraphFacts::mark_gradient_slabs_recomputable() {
  for (VolumeFacts& volume : volumes) {
    if (!volume.gradient || volume.slabs.size() == 1) continue;
    for (const net::ValueId slab : volume.slabs) {
      ValueFacts& value = values[index(slab)];
      if (value.kept || value.producer == net::none) continue;
      const net::Node& node = problem->graph->node(value.producer);
      value.recomputable =
          is_main_output(*problem->graph, node, slab) && node.updates.empty() && !net::is_exchange(node);
      volume.recomputable = volume.recomputable || value.recomputable;
    }
  }
}

void GraphFacts::find_passes() {
  pass.assign(nodes.size(), 0);
  if (!in_slabs || problem->costs == nullptr) return;
  const Needs needs = find_needs(*problem->graph, problem->workspaces, problem->kept);
  std::vector<double> seconds;
  for (const NodeFacts& node : nodes) seconds.push_back(node.seconds);
  const auto room = static_cast<double>(problem->budgets.device - persistent_bytes);
  const std::vector<std::size_t> begins = find_segments(*problem->graph, needs, seconds, room).begins;
  passes = begins.size();
  for (std::size_t i = 0; i < begins.size(); ++i)
    std::fill(pass.begin() + static_cast<std::ptrdiff_t>(begins[i]), pass.end(),
              static_cast<std::int32_t>(i));
}

void GraphFacts::find_volumes() {
  const net::Graph& graph = *problem->graph;
  const net::VolumeNumbers numbers = net::number_volumes(graph);
  std::vector<std::int32_t> volume_of(values.size(), net::none);  // by number
  for (net::ValueId id = 0; index(id) < values.size(); ++id) {
    auto at = static_cast<std::int32_t>(volumes.size());
    if (graph.value(id).origin.slab != net::none) {
      std::int32_t& known = volume_of[index(numbers.values[index(id)])];
      if (known == net::none) known = at;
      at = known;
    }
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
  for (VolumeFacts& volume : volumes) find_gaps(numbers.nodes, volume);
}

// Several slabs of an operation, whose windows overlap, read a slab in short succession. Only the gap before
// the first of them is worth a decision.
void GraphFacts::find_gaps(const std::vector<std::int32_t>& operations, VolumeFacts& volume) {
  std::vector<std::int32_t> known;  // operations that read the volume; below none: readers that are not split
  volume.gaps.emplace_back();
  for (const net::ValueId id : volume.slabs) {
    const ValueFacts& value = values[index(id)];
    std::vector<std::int32_t> seen;
    for (std::size_t i = 0; i < value.readers.size(); ++i) {
      const net::NodeId node = value.readers[i];
      const bool is_split = problem->graph->node(node).origin.slab != net::none;
      const std::int32_t reader =
          is_split ? operations[index(node)] : net::none - 1 - static_cast<std::int32_t>(i);
      if (std::find(seen.begin(), seen.end(), reader) != seen.end()) continue;
      const auto gap = std::find(known.begin(), known.end(), reader);
      const auto at = static_cast<std::size_t>(gap - known.begin());
      if (gap == known.end()) {
        known.push_back(reader);
        volume.gaps.insert(volume.gaps.end() - 1, std::vector<GapId>{});
      }
      volume.gaps[at].push_back(value.first_gap + static_cast<GapId>(i));
      seen.push_back(reader);
    }
    volume.gaps.back().push_back(value.first_gap + static_cast<GapId>(value.readers.size()));
  }
}

}  // namespace voxswap::swap
