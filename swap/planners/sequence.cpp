#include "swap/planners/sequence.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/shape.h"

namespace voxswap::swap {
namespace {

class Expansion {
 public:
  Expansion(const GraphFacts& facts, const Decisions& decisions)
      : facts_(facts),
        decisions_(decisions),
        present_(facts.values.size(), net::none),
        readings_(facts.values.size(), 0),
        updated_(facts.values.size(), false),
        costly_(facts.values.size(), false),
        is_in_retained_(facts.values.size(), false) {
    sequence_.steps.reserve(facts.nodes.size() * 2);
    sequence_.live_ranges.reserve(facts.values.size() * 2);
    sequence_.candidates.reserve(facts.values.size() * 2);
  }

  std::optional<Sequence> run() {
    for (std::size_t id = 0; id < facts_.values.size(); ++id) {
      const ValueFacts& value = facts_.values[id];
      if (!value.persistent && value.producer == net::none && (!value.readers.empty() || value.kept))
        begin_live_range(static_cast<net::ValueId>(id), -1);
    }
    for (net::NodeId node = 0; index(node) < facts_.nodes.size(); ++node)
      if (!run_node(node)) return std::nullopt;
    for (std::size_t live_range = 0; live_range < sequence_.live_ranges.size(); ++live_range)
      if (facts_.values[index(sequence_.live_ranges[live_range].value)].kept)
        keep(static_cast<std::int32_t>(live_range));
    assign_in_place();
    return std::move(sequence_);
  }

 private:
  bool run_node(net::NodeId id) {
    const NodeFacts& node = facts_.nodes[index(id)];
    begin_pass(id);
    for (const net::ValueId value : node.reads)
      if (!provide(value, id)) return false;
    emit(id, false);
    for (const net::ValueId value : node.reads) {
      ++readings_[index(value)];
      if (is_freed_after(value, id)) free(value);
    }
    for (const net::ValueId value : node.writes)
      if (is_freed_after(value, id)) free(value);
    for (const net::ValueId value : node.updates) updated_[index(value)] = true;
    free_temporary(id);
    return true;
  }

  bool is_retained(net::ValueId value) const {
    return decisions_.retain[index(value) * facts_.passes + static_cast<std::size_t>(pass_)];
  }

  // Frees a value after a use, unless it is retained into the next pass.
  void free(net::ValueId value) {
    if (is_retained(value))
      retain(value);
    else
      present_[index(value)] = net::none;
  }

  void retain(net::ValueId value) {
    if (is_in_retained_[index(value)]) return;
    is_in_retained_[index(value)] = true;
    retained_.push_back(value);
  }

  void begin_pass(net::NodeId id) {
    if (facts_.pass[index(id)] == pass_) return;
    std::size_t still = 0;
    for (const net::ValueId value : retained_) {
      const ValueFacts& v = facts_.values[index(value)];
      const bool ends = present_[index(value)] != net::none &&
                        decisions_.recompute[index(v.first_gap + readings_[index(value)])];
      if (ends && is_retained(value)) {
        retained_[still++] = value;
        continue;
      }
      is_in_retained_[index(value)] = false;
      if (ends) present_[index(value)] = net::none;
    }
    retained_.resize(still);
    pass_ = facts_.pass[index(id)];
  }

  // Forgets values that were recomputed for another recomputation. In slabs this waits until the nodes of the
  // neighbouring slabs, which may need them too, have run; their live ranges end with their last use anyway.
  void free_temporary(net::NodeId now) {
    const net::NodeId reach = facts_.in_slabs ? decisions_.reuse_window : 0;
    while (!temporary_.empty() && temporary_.front().second + reach <= now) {
      const net::ValueId value = temporary_.front().first;
      temporary_.pop_front();
      present_[index(value)] = net::none;
      costly_[index(value)] = false;
    }
  }

  // Whether `value` is recomputed in the gap that begins after `now`. In slabs, gaps that end soon are
  // skipped: the next reader is a neighbouring slab.
  bool is_freed_after(net::ValueId value, net::NodeId now) const {
    const ValueFacts& v = facts_.values[index(value)];
    const std::size_t next = index(readings_[index(value)]);
    if (!decisions_.recompute[index(v.first_gap) + next] || !v.recomputable) return false;
    return !facts_.in_slabs || next == v.readers.size() || v.readers[next] - now > halo_nodes;
  }

  // Makes `value` resident for the node `now`, by recomputing it and its sources if necessary.
  bool provide(net::ValueId value, net::NodeId now) {
    if (present_[index(value)] != net::none) return true;
    const ValueFacts& v = facts_.values[index(value)];
    const NodeFacts& node = facts_.nodes[index(v.producer)];
    for (const net::ValueId parameter : node.parameters)
      if (updated_[index(parameter)]) return false;
    for (const net::ValueId input : node.reads)
      if (!provide(input, now)) return false;
    if (sequence_.steps.size() > 8 * facts_.nodes.size()) return false;
    emit(v.producer, true);
    bool costly = !v.cheap;
    for (const net::ValueId input : node.reads) costly = costly || costly_[index(input)];
    const bool per_use = decisions_.recompute_per_use[index(value)];
    if (is_retained(value)) {
      retain(value);
      return true;
    }
    if (!costly || per_use || index(readings_[index(value)]) == v.readers.size()) {
      temporary_.emplace_back(value, now);
      costly_[index(value)] = costly;
    }
    return true;
  }

  void emit(net::NodeId id, bool recomputed) {
    const auto step = static_cast<std::int32_t>(sequence_.steps.size());
    sequence_.steps.push_back({id, recomputed, pass_});
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::ValueId value : node.reads) use(present_[index(value)], step);
    extend_to_end_of_exchange(id, step);
    for (const net::ValueId value : node.writes) {
      if (recomputed) forget_exchange_inputs(value);
      begin_live_range(value, step);
      if (recomputed)
        sequence_.live_ranges.back().gap = facts_.values[index(value)].first_gap + readings_[index(value)];
    }
  }

  // An exchange runs concurrently with the steps that follow: inputs that it does not overwrite stay resident
  // until the first use of its results.
  void extend_to_end_of_exchange(net::NodeId id, std::int32_t step) {
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::NodeId exchange : node.awaited_exchanges) {
      const auto inputs = exchange_inputs_.find(exchange);
      if (inputs == exchange_inputs_.end()) continue;  // awaited before
      for (const std::int32_t live_range : inputs->second)
        sequence_.live_ranges[index(live_range)].last_use = step;
      exchange_inputs_.erase(inputs);
    }
    if (!node.exchanges) return;
    for (const net::ValueId value : node.reads)
      if (std::none_of(node.in_place.begin(), node.in_place.end(),
                       [&](auto& pair) { return pair.second == value; }))
        exchange_inputs_[id].push_back(present_[index(value)]);
  }

  // A value has one live range at a time. If an exchange still reads an earlier one, the next user of that
  // memory waits for the exchange (waits.h).
  void forget_exchange_inputs(net::ValueId value) {
    for (auto& [exchange, live_ranges] : exchange_inputs_)
      std::erase_if(live_ranges, [&](std::int32_t live_range) {
        return sequence_.live_ranges[index(live_range)].value == value;
      });
  }

  void use(std::int32_t id, std::int32_t step) {
    LiveRange& live_range = sequence_.live_ranges[index(id)];
    if (step - live_range.last_use >= 2) {
      sequence_.candidates.push_back({id, live_range.last_use, step, live_range.last_use, step, true});
      sequence_.candidates.back().gap =
          facts_.values[index(live_range.value)].first_gap + readings_[index(live_range.value)];
    }
    live_range.last_use = step;
  }

  // A kept value is used once more, after the last step.
  void keep(std::int32_t id) {
    const auto end = static_cast<std::int32_t>(sequence_.steps.size());
    use(id, end);
    sequence_.live_ranges[index(id)].last_use = end - 1;
  }

  void begin_live_range(net::ValueId value, std::int32_t step) {
    present_[index(value)] = static_cast<std::int32_t>(sequence_.live_ranges.size());
    sequence_.live_ranges.push_back({value, step, step, net::none, false, net::none});
  }

  void assign_in_place() {
    std::vector<std::int32_t> current(facts_.values.size(), net::none);  // live range at the step
    std::size_t next = 0;
    std::vector<LiveRange>& live_ranges = sequence_.live_ranges;
    for (; next < live_ranges.size() && live_ranges[next].produced < 0; ++next)
      current[index(live_ranges[next].value)] = static_cast<std::int32_t>(next);
    for (std::int32_t step = 0; index(step) < sequence_.steps.size(); ++step) {
      const std::size_t begin = next;
      for (; next < live_ranges.size() && live_ranges[next].produced == step; ++next) {
      }
      for (const auto& [to, from] : facts_.nodes[index(sequence_.steps[index(step)].node)].in_place) {
        const std::int32_t source = current[index(from)];
        if (source == net::none || facts_.values[index(from)].kept) continue;
        LiveRange& old = live_ranges[index(source)];
        if (old.last_use != step || old.overwritten) continue;
        for (std::size_t id = begin; id < next; ++id) {
          if (live_ranges[id].value != to || live_ranges[id].in_place_of != net::none) continue;
          live_ranges[id].in_place_of = source;
          old.overwritten = true;
        }
      }
      for (std::size_t id = begin; id < next; ++id)
        current[index(live_ranges[id].value)] = static_cast<std::int32_t>(id);
    }
  }

  const GraphFacts& facts_;
  const Decisions& decisions_;
  std::vector<std::int32_t> present_;   // live range of each resident value
  std::vector<std::int32_t> readings_;  // how many of its readers have run
  std::vector<bool> updated_;
  std::deque<std::pair<net::ValueId, net::NodeId>> temporary_;  // recomputed values, and for which node
  std::map<net::NodeId, std::vector<std::int32_t>>
      exchange_inputs_;                 // live ranges, by the exchange that reads them
  std::vector<bool> costly_;            // temporary, and its recomputation is not cheap
  std::vector<net::ValueId> retained_;  // into the next pass
  std::vector<bool> is_in_retained_;
  std::int32_t pass_ = 0;
  Sequence sequence_;
};

}  // namespace

std::optional<Sequence> expand(const GraphFacts& facts, const Decisions& decisions) {
  return Expansion(facts, decisions).run();
}

std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<std::int64_t> change(sequence.steps.size() + 1, 0);
  for (const LiveRange& live_range : sequence.live_ranges) {
    const std::int64_t size = facts.values[index(live_range.value)].bytes;
    change[index(std::max(live_range.produced, 0))] += size;
    change[index(std::max(live_range.last_use, 0)) + 1] -= size;
    if (live_range.in_place_of != net::none) {  // counted once in the step that overwrites in place
      change[index(live_range.produced)] -= size;
      change[index(live_range.produced) + 1] += size;
    }
  }
  std::vector<std::int64_t> memory(sequence.steps.size());
  std::int64_t live = facts.persistent_bytes;
  for (std::size_t t = 0; t < memory.size(); ++t)
    memory[t] = (live += change[t]) + facts.nodes[index(sequence.steps[t].node)].workspace;
  return memory;
}

std::vector<Eviction> eviction_candidates(const Sequence& sequence) {
  std::vector<Eviction> result = sequence.candidates;
  std::stable_sort(result.begin(), result.end(),
                   [](const Eviction& x, const Eviction& y) { return x.live_range < y.live_range; });
  return result;
}

std::vector<Eviction> candidates_by_last_use(const GraphFacts& facts, const Sequence& sequence,
                                             std::int64_t least_bytes) {
  const std::vector<Eviction>& candidates = sequence.candidates;
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (value_of(facts, sequence, candidates[i]).bytes >= least_bytes)
      numbers.push_back(static_cast<std::int32_t>(i));
  sort_by_step(numbers, static_cast<std::int32_t>(sequence.steps.size()),
               [&](std::int32_t i) { return candidates[index(i)].last_use; });
  std::vector<Eviction> all;
  all.reserve(numbers.size());
  for (const std::int32_t i : numbers) all.push_back(candidates[index(i)]);
  for (auto from = all.begin(); from != all.end();) {
    const auto to = std::find_if(
        from, all.end(), [&](const Eviction& eviction) { return eviction.last_use != from->last_use; });
    std::sort(from, to, [](const Eviction& x, const Eviction& y) {
      return x.next_use != y.next_use ? x.next_use > y.next_use : x.live_range < y.live_range;
    });
    from = to;
  }
  return all;
}

std::int32_t in_place_successor_of(const GraphFacts& facts, const Sequence& sequence,
                                   const Eviction& eviction, std::int32_t taken) {
  const std::vector<LiveRange>& live_ranges = sequence.live_ranges;
  const LiveRange& evicted = live_ranges[index(eviction.live_range)];
  const auto& over = facts.nodes[index(sequence.steps[index(eviction.last_use)].node)].in_place;
  auto successor = std::lower_bound(
      live_ranges.begin(), live_ranges.end(), eviction.last_use,
      [](const LiveRange& live_range, std::int32_t step) { return live_range.produced < step; });
  for (; successor != live_ranges.end() && successor->produced == eviction.last_use; ++successor) {
    const auto id = static_cast<std::int32_t>(successor - live_ranges.begin());
    const bool as_large =
        facts.values[index(successor->value)].bytes == facts.values[index(evicted.value)].bytes;
    if (id <= taken || successor->in_place_of != net::none || !as_large) continue;
    if (std::find(over.begin(), over.end(), std::pair(successor->value, evicted.value)) != over.end())
      return id;
  }
  return net::none;
}

}  // namespace voxswap::swap
