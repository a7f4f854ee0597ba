#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/shape.h"
#include "net/graph/operation.h"
#include "net/graph/origin.h"
#include "swap/model/volume_program.h"
#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

constexpr double small_volume = 0.01;    // relative to the room: smaller ones count as always resident
constexpr double open_at_border = 0.02;  // relative to the room: bytes partly produced or partly read
constexpr double least_segment = 0.01;   // relative to the compute time of the step
constexpr std::size_t most_moments = 3;  // per segment

// A slab as a range of its volume, from 0 to 1.
struct Span {
  double from = 0, to = 0;
  double length() const { return to - from; }
};

double overlap(const Span& a, const Span& b) {
  return std::max(0.0, std::min(a.to, b.to) - std::max(a.from, b.from));
}

class SegmentFinder {
 public:
  SegmentFinder(const net::Graph& graph, const Needs& needs, const std::vector<double>& seconds, double room)
      : graph_(graph),
        needs_(needs),
        seconds_(seconds),
        room_(room),
        numbers_(net::number_volumes(graph)),
        volume_(graph.values().size(), none),
        spans_(graph.values().size()) {
    found_.all_room = room;
  }

  VolumeSegments run() {
    find_volumes();
    find_borders();
    find_uses();
    for (MovedVolume& volume : found_.volumes) find_recomputation(volume);
    find_moments();
    find_extents();
    return std::move(found_);
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t nodes() const { return seconds_.size(); }

  void find_volumes() {
    std::vector<bool> exchanged(graph_.values().size(), false);
    for (const net::Node& node : graph_.nodes())
      if (net::is_exchange(node))
        for (const auto* list : {&node.inputs, &node.outputs})
          for (const net::ValueId id : *list) exchanged[index(id)] = true;
    std::vector<MovedVolume> volumes(graph_.values().size());  // by number
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id) {
      const net::Value& value = graph_.value(id);
      if (value.persistent() || exchanged[index(id)] || needs_.last[index(id)] < 0) continue;
      MovedVolume& volume = volumes[index(numbers_.values[index(id)])];
      volume.slabs.push_back(id);
      volume.bytes += static_cast<double>(value.bytes());
    }
    for (MovedVolume& volume : volumes)
      if (!volume.slabs.empty() && volume.bytes > small_volume * room_) add_volume(std::move(volume));
  }

  void add_volume(MovedVolume volume) {
    std::sort(volume.slabs.begin(), volume.slabs.end(), [&](net::ValueId a, net::ValueId b) {
      return graph_.value(a).origin.slab < graph_.value(b).origin.slab;
    });
    double before = 0;
    for (const net::ValueId id : volume.slabs) {
      const double bytes = static_cast<double>(graph_.value(id).bytes()) / volume.bytes;
      spans_[index(id)] = {before, before + bytes};
      before += bytes;
      volume_[index(id)] = found_.volumes.size();
    }
    volume.read = graph_.value(volume.slabs.front()).producer == net::none;
    found_.volumes.push_back(std::move(volume));
  }

  // Bytes of the volumes that started but unfinished operations produce or read: per node, before it begins.
  std::vector<double> open_bytes() const {
    struct Operation {
      std::size_t first = 0, last = 0;
      double bytes = 0;
    };
    std::vector<Operation> operations(nodes(), Operation{none, 0, 0});  // by number
    for (std::size_t id = 0; id < nodes(); ++id) {
      const net::Node& node = graph_.nodes()[id];
      Operation& operation = operations[index(numbers_.nodes[id])];
      if (operation.first == none) operation.first = id;
      operation.last = id;
      for (const auto* list : {&node.inputs, &node.outputs})
        for (const net::ValueId value : *list)
          if (volume_[index(value)] != none)
            operation.bytes += static_cast<double>(graph_.value(value).bytes());
    }
    std::vector<double> open(nodes() + 1, 0);
    for (const Operation& operation : operations) {
      if (operation.first == none) break;  // there are no more
      open[operation.first + 1] += operation.bytes;
      open[operation.last + 1] -= operation.bytes;
    }
    std::partial_sum(open.begin(), open.end(), open.begin());
    return open;
  }

  void find_borders() {
    const std::vector<double> open = open_bytes();
    const double all = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    double since = 0;
    found_.begins = {0};
    found_.compute = {0};
    for (std::size_t node = 0; node < nodes(); ++node) {
      const bool border = open[node] <= open_at_border * room_ && since > least_segment * all &&
                          !net::is_exchange(graph_.nodes()[node]);
      if (border) {
        found_.begins.push_back(node);
        found_.compute.push_back(0);
        since = 0;
      }
      found_.compute.back() += seconds_[node];
      since += seconds_[node];
    }
    for (const std::size_t begin : found_.begins) found_.room.push_back(room_ - beside_inputs(begin));
  }

  // Bytes of a node's working set that are none of its inputs'.
  double beside_inputs(std::size_t node) const {
    std::int64_t bytes = needs_.working[node].least_bytes;
    for (const net::ValueId input : needs_.working[node].inputs)
      bytes -= occupied(graph_.value(input).bytes());
    return static_cast<double>(std::max<std::int64_t>(0, bytes));
  }

  void find_uses() {
    const std::size_t segments = found_.begins.size();
    for (MovedVolume& volume : found_.volumes) {
      volume.produced.assign(segments, 0);
      volume.needed.assign(segments, 0);
    }
    std::vector<std::size_t> seen(graph_.values().size(), none);
    for (std::size_t segment = 0; segment < segments; ++segment) {
      const std::size_t end = segment + 1 < segments ? found_.begins[segment + 1] : nodes();
      for (std::size_t node = found_.begins[segment]; node < end; ++node) {
        for (const net::ValueId value : needs_.working[node].inputs) {
          if (volume_[index(value)] == none || seen[index(value)] == segment) continue;
          seen[index(value)] = segment;
          found_.volumes[volume_[index(value)]].needed[segment] += spans_[index(value)].length();
        }
        for (const net::ValueId value : graph_.nodes()[node].outputs)
          if (volume_[index(value)] != none)
            found_.volumes[volume_[index(value)]].produced[segment] += spans_[index(value)].length();
      }
    }
  }

  // Recomputation time and sources of a volume. A node that produces several volumes counts for each in part.
  void find_recomputation(MovedVolume& volume) {
    double seconds = std::numeric_limits<double>::infinity();
    std::map<std::size_t, double> least;
    for (std::size_t i = 0; i < volume.slabs.size(); ++i) {
      const net::ValueId slab = volume.slabs[i];
      const net::NodeId producer = graph_.value(slab).producer;
      if (producer == net::none || !graph_.node(producer).updates.empty()) return;
      const net::Node& node = graph_.node(producer);
      const Span span = spans_[index(slab)];
      const auto produced = std::count_if(node.outputs.begin(), node.outputs.end(),
                                          [&](net::ValueId id) { return volume_[index(id)] != none; });
      seconds = std::min(seconds, seconds_[index(producer)] / static_cast<double>(produced) / span.length());
      std::map<std::size_t, double> read;
      for (const net::ValueId input : needs_.working[index(producer)].inputs)
        if (const std::size_t source = volume_[index(input)]; source != none)
          read[source] += overlap(span, spans_[index(input)]) / span.length();
      if (i == 0) least = read;
      for (auto& [source, units] : least) units = read.count(source) > 0 ? std::min(units, read[source]) : 0;
    }
    volume.recompute_seconds = seconds;
    for (const auto& [source, units] : least)
      if (units > 0) volume.sources.push_back({source, std::min(1.0, units)});
  }

  // The operations of each segment that leave the least room for other volumes.
  void find_moments() {
    found_.moments.resize(found_.begins.size());
    for (std::size_t segment = 0; segment < found_.begins.size(); ++segment) {
      const std::size_t end = segment + 1 < found_.begins.size() ? found_.begins[segment + 1] : nodes();
      std::map<std::int32_t, std::vector<std::size_t>> operations;  // by number
      for (std::size_t node = found_.begins[segment]; node < end; ++node)
        if (!net::is_exchange(graph_.nodes()[node])) operations[numbers_.nodes[node]].push_back(node);
      std::vector<VolumeMoment>& moments = found_.moments[segment];
      for (const auto& [number, nodes] : operations) moments.push_back(moment_of(nodes));
      std::stable_sort(moments.begin(), moments.end(),
                       [](const VolumeMoment& a, const VolumeMoment& b) { return a.working > b.working; });
      moments.resize(std::min(moments.size(), most_moments));
    }
  }

  VolumeMoment moment_of(const std::vector<std::size_t>& nodes) const {
    VolumeMoment moment;
    std::map<net::ValueId, double> readers;
    for (const std::size_t node : nodes) {
      moment.working +=
          static_cast<double>(needs_.working[node].least_bytes) / static_cast<double>(nodes.size());
      for (const net::ValueId input : needs_.working[node].inputs)
        if (volume_[index(input)] != none) readers[input] += 1 / static_cast<double>(nodes.size());
    }
    std::map<std::size_t, double> parts;
    for (const auto& [value, part] : readers) {
      double& most = parts[volume_[index(value)]];
      most = std::max(most, part);
    }
    for (const auto& [volume, part] : parts) moment.reads.push_back({volume, std::min(1.0, part)});
    return moment;
  }

  // From the production of a volume, or the start of the step for an input, to its last use, including
  // recomputations of the volumes computed from it.
  void find_extents() {
    for (MovedVolume& volume : found_.volumes)
      for (std::size_t s = 0; s < volume.produced.size(); ++s) {
        if (volume.produced[s] <= 0 && volume.needed[s] <= 0) continue;
        if (volume.to == 0) volume.from = volume.read ? 0 : s;
        volume.to = s + 1;
      }
    for (bool longer = true; longer;) {
      longer = false;
      for (const MovedVolume& volume : found_.volumes)
        for (const MovedVolume::Source& source : volume.sources) {
          std::size_t& to = found_.volumes[source.volume].to;
          longer = longer || to < volume.to;
          to = std::max(to, volume.to);
        }
    }
  }

  const net::Graph& graph_;
  const Needs& needs_;
  const std::vector<double>& seconds_;
  const double room_;
  const net::VolumeNumbers numbers_;
  std::vector<std::size_t> volume_;  // per value: index of its volume; none: ignored
  std::vector<Span> spans_;          // per value
  VolumeSegments found_;
};

}  // namespace

VolumeSegments find_segments(const net::Graph& graph, const Needs& needs,
                             const std::vector<double>& node_seconds, double room) {
  return SegmentFinder(graph, needs, node_seconds, room).run();
}

}  // namespace voxswap::swap
