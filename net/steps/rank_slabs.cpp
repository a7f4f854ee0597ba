#include "net/steps/rank_slabs.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/operation.h"
#include "net/graph/send_receive.h"
#include "net/graph/window.h"

namespace voxswap::net {

namespace {

using Rank = std::int32_t;

class Divider {
 public:
  Divider(const CutGraph& whole, const SlabRanks& ranks)
      : whole_(whole),
        old_(whole.graph),
        rank_(static_cast<Rank>(ranks.rank)),
        count_(static_cast<Rank>(ranks.count)),
        needed_(old_.values().size()),
        here_(old_.values().size(), none),
        first_plane_(old_.values().size(), 0),
        is_made_(old_.values().size(), false) {}

  CutGraph run() {
    for (const Node& node : old_.nodes())
      for (Rank rank = 0; rank < count_; ++rank)
        if (runs_on(node, rank)) find_needs(node, rank);
    while (widen_second_windows()) {
    }
    for (ValueId id = 0; index(id) < old_.values().size(); ++id)
      if (old_.value(id).producer == none) add_given(id);
    for (const Node& node : old_.nodes()) {
      if (waits(node)) send_and_receive(node);
      if (runs_on(node, rank_)) add(node);
      for (const ValueId id : node.outputs) is_made_[index(id)] = true;
    }
    part_.slabs.resize(whole_.slabs.size());
    for (std::size_t i = 0; i < whole_.slabs.size(); ++i)
      for (const ValueId id : whole_.slabs[i])
        if (is_on(id, rank_)) part_.slabs[i].push_back(here_[index(id)]);
    return std::move(part_);
  }

 private:
  Rank owner(ValueId id) const { return whole_.owners[index(id)]; }
  bool is_on(ValueId id, Rank rank) const { return owner(id) == none || owner(id) == rank; }
  // Nodes without outputs are updates, which run on all ranks.
  bool runs_on(const Node& node, Rank rank) const {
    return node.outputs.empty() || is_on(node.outputs.front(), rank);
  }

  // --- Values of other ranks that a rank reads

  struct Need {
    Planes planes;
    bool done = false;
  };

  void need(ValueId id, Rank rank, Planes planes) {
    const auto [found, is_new] = needed_[index(id)].try_emplace(rank, Need{planes});
    if (is_new) return;
    found->second.planes = {std::min(found->second.planes.from, planes.from),
                            std::max(found->second.planes.to, planes.to)};
  }

  void find_needs(const Node& node, Rank rank) {
    const bool has_window = node.operation->inner != nullptr;
    std::size_t others = node.inputs.size();
    if (has_window) {
      const Window window = window_of(node.operation->inner(), node.inputs, node.attributes);
      others = window.others.size();
      for (const std::vector<ValueId>& slabs : window.slabs) {
        std::int64_t first = -window.skip;  // plane of the slab, relative to the window's first
        for (const ValueId id : slabs) {
          const std::int64_t depth = old_.value(id).shape[1];
          if (!is_on(id, rank))
            need(id, rank, {std::max<std::int64_t>(-first, 0), std::min(window.planes - first, depth)});
          first += depth;
        }
      }
    }
    for (std::size_t i = 0; i < others; ++i)
      if (!is_on(node.inputs[i], rank)) need(node.inputs[i], rank, {0, old_.value(node.inputs[i]).shape[1]});
  }

  // Both volumes of a two-volume window must have the same planes, so their received ranges are made equal.
  // Returns false if nothing changed.
  bool widen_second_windows() {
    bool widened = false;
    for (const Node& node : old_.nodes()) {
      if (node.operation->inner == nullptr || node.operation->inner().cut.windows < 2) continue;
      const Window window = window_of(node.operation->inner(), node.inputs, node.attributes);
      for (std::size_t i = 0; i < window.slabs[0].size(); ++i)
        for (auto& [rank, first] : needed_[index(window.slabs[0][i])]) {
          const auto second = needed_[index(window.slabs[1][i])].find(rank);
          if (second == needed_[index(window.slabs[1][i])].end()) continue;
          const Planes both = {std::min(first.planes.from, second->second.planes.from),
                               std::max(first.planes.to, second->second.planes.to)};
          widened = widened || first.planes != both || second->second.planes != both;
          first.planes = second->second.planes = both;
        }
    }
    return widened;
  }

  // --- The part of this rank

  void add_given(ValueId id) {
    const Value& value = old_.value(id);
    is_made_[index(id)] = true;
    if (!is_on(id, rank_)) return;
    here_[index(id)] = part_.graph.add_value(value.origin, value.shape, value.type, value.role);
    assert(!value.persistent() || here_[index(id)] == id);
  }

  void add(const Node& node) {
    Node made = node;
    for (ValueId& id : made.inputs) id = here_[index(id)];
    for (ValueId& id : made.updates) id = here_[index(id)];
    if (node.operation->inner != nullptr) {
      // A slab of another rank begins with the first plane received.
      const Window window = window_of(node.operation->inner(), node.inputs, node.attributes);
      const ValueId first = window.slabs.front().front();
      made.attributes =
          windowed_attributes(node.attributes, static_cast<std::int64_t>(window.slabs.front().size()),
                              window.skip - first_plane_[index(first)], window.planes);
    }
    part_.graph.phase = node.phase;
    const NodeId added =
        part_.graph.add(made.operation->name, made.origin, made.inputs, made.attributes, made.updates);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      here_[index(node.outputs[i])] = part_.graph.node(added).outputs[i];
  }

  // --- Sending

  // True if the node, on any rank that runs it, reads a value that has not been sent yet.
  bool waits(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return std::any_of(needed_[index(id)].begin(), needed_[index(id)].end(),
                         [&](const auto& need) { return !need.second.done && runs_on(node, need.first); });
    });
  }

  struct Sent {
    ValueId id;
    Planes planes;
  };
  using Pair = std::pair<Rank, Rank>;  // from, to

  // Sends all available values of the node's sample that other ranks need. Pairs of ranks swap in the order
  // of the XOR of their numbers, so that a rank has at most one partner at a time.
  //
  // Values that all ranks need are gathered by recursive doubling, if the number of ranks is a power of two:
  // a rank forwards what it has received, so it sends one message per bit of the number instead of one per
  // rank.
  void send_and_receive(const Node& node) {
    std::map<Pair, std::vector<Sent>> sent;
    std::vector<Sent> gathered;
    const std::int32_t sample = node.origin.sample;
    for (ValueId id = 0; index(id) < needed_.size(); ++id) {
      const Value& value = old_.value(id);
      const bool reads = std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
      if (!is_made_[index(id)] || (!reads && value.origin.sample != sample)) continue;
      const bool by_all = is_needed_by_all(id);
      for (auto& [to, need] : needed_[index(id)]) {
        if (std::exchange(need.done, true) || by_all) continue;
        sent[{owner(id), to}].push_back({id, need.planes});
      }
      if (by_all) gathered.push_back({id, {0, value.shape[1]}});
    }
    std::set<std::pair<Rank, Pair>> order;
    for (const auto& [pair, values] : sent)
      order.insert({pair.first ^ pair.second, std::minmax(pair.first, pair.second)});
    for (const auto& [bits, pair] : order)
      if (pair.first == rank_ || pair.second == rank_)
        add_send_receive(node, pair.first == rank_ ? pair.second : pair.first, sent);
    ++exchanges_;
    if (!gathered.empty()) gather(node, gathered);
  }

  // True if all other ranks need the whole value and it has not been sent yet.
  bool is_needed_by_all(ValueId id) const {
    const auto& needs = needed_[index(id)];
    const bool is_power_of_two = (count_ & (count_ - 1)) == 0;
    return is_power_of_two && static_cast<Rank>(needs.size()) == count_ - 1 &&
           std::all_of(needs.begin(), needs.end(), [&](const auto& need) {
             return !need.second.done && need.second.planes == Planes{0, old_.value(id).shape[1]};
           });
  }

  // After the round of a bit, a rank has the values of all ranks whose numbers differ from its own at most in
  // this bit and lower ones.
  void gather(const Node& node, const std::vector<Sent>& values) {
    for (Rank bit = 1; bit < count_; bit *= 2) {
      std::map<Pair, std::vector<Sent>> sent;
      const Rank other = rank_ ^ bit;
      for (const Sent& value : values) {
        if ((owner(value.id) ^ rank_) < bit) sent[{rank_, other}].push_back(value);
        if ((owner(value.id) ^ other) < bit) sent[{other, rank_}].push_back(value);
      }
      if (!sent.empty()) add_send_receive(node, other, sent);
      ++exchanges_;
    }
  }

  void add_send_receive(const Node& node, Rank other, const std::map<Pair, std::vector<Sent>>& all) {
    const auto find = [&](Rank from, Rank to) {
      const auto found = all.find({from, to});
      return found == all.end() ? std::vector<Sent>() : found->second;
    };
    const std::vector<Sent> out = find(rank_, other), in = find(other, rank_);
    SendReceive made;
    made.other = other;
    std::vector<ValueId> inputs;
    for (const Sent& sent : out) {
      inputs.push_back(here_[index(sent.id)]);
      made.sent.push_back(sent.planes);
    }
    for (const Sent& sent : in) {
      const Value& value = old_.value(sent.id);
      Shape shape = value.shape;
      shape[1] = sent.planes.count();
      made.received.push_back({shape, value.type});
    }
    part_.graph.phase = node.phase;
    const Origin origin(format("send_receive.{}.with_{}", exchanges_, other), none, node.origin.sample);
    const NodeId added = part_.graph.add("send_receive", origin, inputs, attributes_of(made));
    for (std::size_t i = 0; i < in.size(); ++i) {
      here_[index(in[i].id)] = part_.graph.node(added).outputs[i];
      first_plane_[index(in[i].id)] = in[i].planes.from;
    }
  }

  const CutGraph& whole_;
  const Graph& old_;
  const Rank rank_, count_;
  std::vector<std::map<Rank, Need>> needed_;  // per value: planes needed by other ranks
  std::vector<ValueId> here_;                 // per value: this rank's value, or the received one
  std::vector<std::int64_t> first_plane_;     // per value: first plane received
  std::vector<bool> is_made_;                 // per value: already computed by its owner
  std::int64_t exchanges_ = 0;
  CutGraph part_;
};

}  // namespace

CutGraph part_of_rank(const CutGraph& whole, const SlabRanks& ranks) {
  return Divider(whole, ranks).run();
}

SentBytes sent_in_step(const Graph& graph) {
  SentBytes bytes;
  for (const Node& node : graph.nodes()) {
    if (node.operation != &send_receive_operation()) continue;
    const SendReceive of = send_receive_of(node.attributes);
    for (std::size_t i = 0; i < of.sent.size(); ++i) {
      const Value& value = graph.value(node.inputs[i]);
      const bool is_volume = value.shape.rank() == 5 || value.type == ElementType::u8;
      (is_volume ? bytes.halos : bytes.sums) += bytes_of_planes(value, of.sent[i]);
    }
  }
  return bytes;
}

}  // namespace voxswap::net
