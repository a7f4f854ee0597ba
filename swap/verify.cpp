// Checks a plan against its graph and nothing else: what the planner believed plays no part.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "swap/arena.h"
#include "swap/lifetimes.h"
#include "swap/plan.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

class Verifier {
 public:
  Verifier(const Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan)
      : graph_(graph), workspaces_(workspaces), plan_(plan) {}

  std::vector<std::string> run() {
    // Later checks index by what earlier ones found to be in range.
    if (check_nodes() && check_ranges()) {
      check_order();
      check_values();
      check_workspaces();
      check_persistent();
      check_overlaps_and_sums();
    }
    if (plan_.budget_bytes > 0 && plan_.peak_bytes > plan_.budget_bytes)
      report("the arena of {} bytes exceeds the budget of {}", plan_.peak_bytes, plan_.budget_bytes);
    return std::move(violations_);
  }

 private:
  template <class... Arguments>
  void report(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    violations_.push_back(fmt::format(pattern, std::forward<Arguments>(arguments)...));
  }
  const std::string& name(ValueId value) const { return graph_.value(value).name; }
  std::int32_t end() const { return static_cast<std::int32_t>(plan_.instructions.size()); }
  std::int32_t position(NodeId node) const { return positions_[index(node)]; }

  bool check_nodes() {
    positions_.assign(graph_.nodes().size(), -1);
    for (std::int32_t i = 0; i < end(); ++i) {
      const NodeId node = plan_.instructions[index(i)].node;
      if (node < 0 || index(node) >= positions_.size()) {
        report("instruction {} runs node {}, which does not exist", i, node);
      } else if (positions_[index(node)] >= 0) {
        report("node {} '{}' runs twice: instructions {} and {}", node, graph_.node(node).name,
               positions_[index(node)], i);
      } else {
        positions_[index(node)] = i;
      }
    }
    for (std::size_t node = 0; node < positions_.size(); ++node)
      if (positions_[node] < 0) report("node {} '{}' never runs", node, graph_.nodes()[node].name);
    if (workspaces_.size() != positions_.size())
      report("there are workspaces of {} nodes, the graph has {}", workspaces_.size(), positions_.size());
    return violations_.empty();
  }

  bool check_ranges() {
    places_.assign(graph_.values().size(), {});
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& r = plan_.residencies[i];
      const bool known = r.value == none ? r.node >= 0 && index(r.node) < positions_.size()
                                         : r.value >= 0 && index(r.value) < places_.size();
      if (!known) report("residency {} is of value {} and node {}: no such thing", i, r.value, r.node);
      if (r.first < 0 || r.last < r.first || r.last >= end())
        report("residency {} spans instructions {} to {} of {}", i, r.first, r.last, end());
      if (r.offset % place_alignment != 0)
        report("residency {} lies at {}, not a multiple of {}", i, r.offset, place_alignment);
      if (r.offset < 0 || r.bytes <= 0 || r.bytes > plan_.peak_bytes - r.offset)
        report("residency {} ({} bytes at {}) is outside the arena of {}", i, r.bytes, r.offset,
               plan_.peak_bytes);
      if (known && r.value != none) places_[index(r.value)].push_back(&r);
    }
    for (const ValueId value : plan_.kept)
      if (value < 0 || index(value) >= places_.size()) report("kept value {} does not exist", value);
    return violations_.empty();
  }

  // Producers before readers; reads and updates of one persistent value in the graph's order.
  void check_order() {
    struct Access {
      NodeId node;
      bool update;
    };
    std::map<ValueId, std::vector<Access>> accesses;
    for (NodeId id = 0; index(id) < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      for (const ValueId value : node.inputs) {
        if (const NodeId producer = graph_.value(value).producer; producer == none)
          accesses[value].push_back({id, false});
        else if (position(producer) >= position(id))
          report("instruction {} ('{}') reads '{}' before instruction {} has made it", position(id),
                 node.name, name(value), position(producer));
      }
      for (const ValueId value : node.updates) accesses[value].push_back({id, true});
    }
    for (const auto& [value, list] : accesses)
      for (std::size_t later = 0; later < list.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
          if ((list[earlier].update || list[later].update) && list[earlier].node != list[later].node &&
              position(list[earlier].node) > position(list[later].node))
            report("'{}' is read and updated in a wrong order: '{}' has to come before '{}'", name(value),
                   graph_.node(list[earlier].node).name, graph_.node(list[later].node).name);
  }

  // Every value has one place, large enough, from where it is made to where it is read last.
  void check_values() {
    first_.assign(places_.size(), end());
    last_.assign(places_.size(), -1);
    for (NodeId id = 0; index(id) < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      for (const auto* list : {&node.inputs, &node.outputs, &node.updates})
        for (const ValueId value : *list) {
          first_[index(value)] = std::min(first_[index(value)], position(id));
          last_[index(value)] = std::max(last_[index(value)], position(id));
        }
    }
    for (const ValueId value : plan_.kept) last_[index(value)] = end() - 1;
    for (ValueId id = 0; index(id) < places_.size(); ++id) {
      const Value& value = graph_.value(id);
      if (value.persistent()) last_[index(id)] = end() - 1;
      if (value.producer == none && last_[index(id)] >= 0) {
        first_[index(id)] = 0;  // written before the step
        if (!value.persistent() && value.role != Role::input)
          report("'{}' is read, but nothing makes it", value.name);
      }
      if (last_[index(id)] < 0 && places_[index(id)].empty()) continue;
      check_value(id, value);
    }
  }

  void check_value(ValueId id, const Value& value) {
    const std::vector<const Residency*>& places = places_[index(id)];
    if (places.size() != 1) {
      report("'{}' has {} places instead of one", value.name, places.size());
      return;
    }
    const Residency& place = *places.front();
    if (place.bytes < value.bytes())
      report("'{}' needs {} bytes and has a place of {}", value.name, value.bytes(), place.bytes);
    if (place.first > first_[index(id)] || place.last < last_[index(id)])
      report("'{}' is needed from instruction {} to {} and resident from {} to {}", value.name,
             first_[index(id)], last_[index(id)], place.first, place.last);
  }

  void check_workspaces() {
    std::vector<int> found(positions_.size(), 0);
    for (const Residency& r : plan_.residencies) {
      if (r.value != none) continue;
      ++found[index(r.node)];
      if (r.first > position(r.node) || r.last < position(r.node))
        report("the workspace of '{}' is not resident when the node runs", graph_.node(r.node).name);
      if (r.bytes < workspaces_[index(r.node)])
        report("the workspace of '{}' needs {} bytes and has {}", graph_.node(r.node).name,
               workspaces_[index(r.node)], r.bytes);
    }
    for (std::size_t node = 0; node < found.size(); ++node)
      if (found[node] > 1 || (found[node] == 0 && workspaces_[node] > 0))
        report("'{}' has {} workspaces", graph_.nodes()[node].name, found[node]);
  }

  // Executors that share an arena rely on where these lie.
  void check_persistent() {
    std::int64_t offset = 0;
    for (ValueId id = 0; index(id) < places_.size(); ++id) {
      if (!graph_.value(id).persistent()) continue;
      for (const Residency* place : places_[index(id)])
        if (place->offset != offset || place->first != 0)
          report("persistent '{}' lies at {} from instruction {}; its place is {} from 0", name(id),
                 place->offset, place->first, offset);
      offset += occupied(graph_.value(id).bytes());
    }
    if (plan_.persistent_bytes != offset)
      report("persistent values take {} bytes, the plan says {}", offset, plan_.persistent_bytes);
  }

  // `later` written over `earlier`, which is read last by the node that makes `later`.
  bool in_place(const Residency& earlier, const Residency& later) const {
    if (earlier.value == none || later.value == none) return false;
    if (earlier.offset != later.offset || earlier.bytes < later.bytes) return false;
    const NodeId producer = graph_.value(later.value).producer;
    if (producer == none || position(producer) != later.first || later.first != earlier.last) return false;
    if (last_[index(earlier.value)] != later.first) return false;
    const bool kept = std::find(plan_.kept.begin(), plan_.kept.end(), earlier.value) != plan_.kept.end();
    return !kept && may_take_over(graph_, graph_.node(producer), later.value, earlier.value);
  }

  void check_overlaps_and_sums() {
    std::vector<const Residency*> sorted, live;
    for (const Residency& r : plan_.residencies) sorted.push_back(&r);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Residency* a, const Residency* b) { return a->first < b->first; });
    std::vector<std::int64_t> sums(plan_.instructions.size(), 0);
    for (const Residency* r : sorted) {
      std::erase_if(live, [&](const Residency* other) { return other->last < r->first; });
      for (std::int32_t i = r->first; i <= r->last; ++i) sums[index(i)] += r->bytes;
      for (const Residency* other : live) {
        if (r->offset >= other->offset + other->bytes || other->offset >= r->offset + r->bytes) continue;
        if (in_place(*other, *r) || in_place(*r, *other))
          sums[index(r->first)] -= std::min(r->bytes, other->bytes);  // one place, counted once
        else
          report("{} and {} overlap in memory at instruction {}", what(*other), what(*r), r->first);
      }
      live.push_back(r);
    }
    if (!violations_.empty()) return;
    if (sums != plan_.live_bytes) report("the live bytes per instruction are not the sums of the places");
    const std::int64_t peak = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    if (peak != plan_.live_peak_bytes)
      report("the largest live sum is {}, the plan says {}", peak, plan_.live_peak_bytes);
  }

  std::string what(const Residency& r) const {
    if (r.value == none) return format("the workspace of '{}'", graph_.node(r.node).name);
    return format("'{}' (instructions {} to {})", name(r.value), r.first, r.last);
  }

  const Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const Plan& plan_;
  std::vector<std::string> violations_;
  std::vector<std::int32_t> positions_;                // instruction of every node
  std::vector<std::vector<const Residency*>> places_;  // of every value
  std::vector<std::int32_t> first_, last_;             // instructions between which a value is needed
};

}  // namespace

std::vector<std::string> verify(const Graph& graph, const std::vector<std::int64_t>& workspaces,
                                const Plan& plan) {
  return Verifier(graph, workspaces, plan).run();
}

}  // namespace voxswap
