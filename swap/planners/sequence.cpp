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
  Expansion(const GraphFacts& facts, const Decisions& choice)
      : facts_(facts),
        choice_(choice),
        present_(facts.values.size(), net::none),
        readings_(facts.values.size(), 0),
        updated_(facts.values.size(), false),
        costly_(facts.values.size(), false),
        is_staying_(facts.values.size(), false) {
    sequence_.steps.reserve(facts.nodes.size() * 2);
    sequence_.lives.reserve(facts.values.size() * 2);
    sequence_.idle.reserve(facts.values.size() * 2);
  }

  std::optional<Sequence> run() {
    for (std::size_t id = 0; id < facts_.values.size(); ++id) {
      const ValueFacts& value = facts_.values[id];
      if (!value.persistent && value.producer == net::none && (!value.readers.empty() || value.kept))
        begin_life(static_cast<net::ValueId>(id), -1);
    }
    for (net::NodeId node = 0; index(node) < facts_.nodes.size(); ++node)
      if (!run_node(node)) return std::nullopt;
    for (std::size_t life = 0; life < sequence_.lives.size(); ++life)
      if (facts_.values[index(sequence_.lives[life].value)].kept) keep(static_cast<std::int32_t>(life));
    take_places_over();
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
      if (dropped_at(value, id)) let_go(value);
    }
    for (const net::ValueId value : node.makes)
      if (dropped_at(value, id)) let_go(value);
    for (const net::ValueId value : node.updates) updated_[index(value)] = true;
    drop_passing(id);
    return true;
  }

  bool is_held(net::ValueId value) const {
    return choice_.held[index(value) * facts_.passes + static_cast<std::size_t>(pass_)];
  }

  // Unless it is held into the next pass.
  void let_go(net::ValueId value) {
    if (is_held(value))
      stay(value);
    else
      present_[index(value)] = net::none;
  }

  void stay(net::ValueId value) {
    if (is_staying_[index(value)]) return;
    is_staying_[index(value)] = true;
    staying_.push_back(value);
  }

  void begin_pass(net::NodeId id) {
    if (facts_.pass[index(id)] == pass_) return;
    std::size_t still = 0;
    for (const net::ValueId value : staying_) {
      const ValueFacts& v = facts_.values[index(value)];
      const bool goes =
          present_[index(value)] != net::none && choice_.again[index(v.first_gap + readings_[index(value)])];
      if (goes && is_held(value)) {
        staying_[still++] = value;
        continue;
      }
      is_staying_[index(value)] = false;
      if (goes) present_[index(value)] = net::none;
    }
    staying_.resize(still);
    pass_ = facts_.pass[index(id)];
  }

  // What was made for others is dropped; of pieces, when their neighbours' nodes, which may need it too, have
  // run. It has its place no longer than to its last use.
  void drop_passing(net::NodeId now) {
    const net::NodeId reach = facts_.in_pieces ? choice_.window : 0;
    while (!passing_.empty() && passing_.front().second + reach <= now) {
      const net::ValueId value = passing_.front().first;
      passing_.pop_front();
      present_[index(value)] = net::none;
      costly_[index(value)] = false;
    }
  }

  // Whether the gap that `value` has come to is one in which it is dropped. A neighbour's node that reads it
  // soon is not worth a run in between.
  bool dropped_at(net::ValueId value, net::NodeId now) const {
    const ValueFacts& v = facts_.values[index(value)];
    const std::size_t next = index(readings_[index(value)]);
    if (!choice_.again[index(v.first_gap) + next] || !v.repeatable) return false;
    return !facts_.in_pieces || next == v.readers.size() || v.readers[next] - now > nodes_of_neighbours;
  }

  // For the node `now`. Depth is that of a chain of dropped values.
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
    const bool alone = choice_.alone[index(value)];
    if (is_held(value)) {
      stay(value);
      return true;
    }
    if (!costly || alone || index(readings_[index(value)]) == v.readers.size()) {
      passing_.emplace_back(value, now);
      costly_[index(value)] = costly;
    }
    return true;
  }

  void emit(net::NodeId id, bool again) {
    const auto step = static_cast<std::int32_t>(sequence_.steps.size());
    sequence_.steps.push_back({id, again, pass_});
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::ValueId value : node.reads) use(present_[index(value)], step);
    hold_while_exchanged(id, step);
    for (const net::ValueId value : node.makes) {
      if (again) end_hold(value);
      begin_life(value, step);
      if (again) sequence_.lives.back().gap = facts_.values[index(value)].first_gap + readings_[index(value)];
    }
  }

  // An exchange runs beside the steps that follow it: what it reads and does not write over keeps its place
  // until what it makes is needed for the first time.
  void hold_while_exchanged(net::NodeId id, std::int32_t step) {
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::NodeId exchange : node.awaits) {
      const auto held = held_.find(exchange);
      if (held == held_.end()) continue;  // it was awaited before
      for (const std::int32_t life : held->second) sequence_.lives[index(life)].last = step;
      held_.erase(held);
    }
    if (!node.exchanges) return;
    for (const net::ValueId value : node.reads)
      if (std::none_of(node.over.begin(), node.over.end(), [&](auto& pair) { return pair.second == value; }))
        held_[id].push_back(present_[index(value)]);
  }

  // A value has one place at a time: the exchange that still reads an earlier life is waited for by whatever
  // takes that place (waits.h).
  void end_hold(net::ValueId value) {
    for (auto& [exchange, lives] : held_)
      std::erase_if(lives, [&](std::int32_t life) { return sequence_.lives[index(life)].value == value; });
  }

  void use(std::int32_t id, std::int32_t step) {
    Life& life = sequence_.lives[index(id)];
    if (step - life.last >= 2) {
      sequence_.idle.push_back({id, life.last, step, life.last, step, true});
      sequence_.idle.back().gap = facts_.values[index(life.value)].first_gap + readings_[index(life.value)];
    }
    life.last = step;
  }

  // To the end, or it leaves before that.
  void keep(std::int32_t id) {
    const auto end = static_cast<std::int32_t>(sequence_.steps.size());
    use(id, end);
    sequence_.lives[index(id)].last = end - 1;
  }

  void begin_life(net::ValueId value, std::int32_t step) {
    present_[index(value)] = static_cast<std::int32_t>(sequence_.lives.size());
    sequence_.lives.push_back({value, step, step, net::none, false, net::none});
  }

  void take_places_over() {
    std::vector<std::int32_t> current(facts_.values.size(), net::none);  // life at the step
    std::size_t next = 0;
    std::vector<Life>& lives = sequence_.lives;
    for (; next < lives.size() && lives[next].made < 0; ++next)
      current[index(lives[next].value)] = static_cast<std::int32_t>(next);
    for (std::int32_t step = 0; index(step) < sequence_.steps.size(); ++step) {
      const std::size_t begin = next;
      for (; next < lives.size() && lives[next].made == step; ++next) {
      }
      for (const auto& [to, from] : facts_.nodes[index(sequence_.steps[index(step)].node)].over) {
        const std::int32_t source = current[index(from)];
        if (source == net::none || facts_.values[index(from)].kept) continue;
        Life& old = lives[index(source)];
        if (old.last != step || old.left) continue;
        for (std::size_t made = begin; made < next; ++made) {
          if (lives[made].value != to || lives[made].over != net::none) continue;
          lives[made].over = source;
          old.left = true;
        }
      }
      for (std::size_t made = begin; made < next; ++made)
        current[index(lives[made].value)] = static_cast<std::int32_t>(made);
    }
  }

  const GraphFacts& facts_;
  const Decisions& choice_;
  std::vector<std::int32_t> present_;   // life of each value that is on hand
  std::vector<std::int32_t> readings_;  // how many of its readers have run
  std::vector<bool> updated_;
  std::deque<std::pair<net::ValueId, net::NodeId>> passing_;  // made for others, and for which node
  std::map<net::NodeId, std::vector<std::int32_t>> held_;     // lives, by the exchange that reads them
  std::vector<bool> costly_;           // passing, and making it once more would take more than cheap nodes
  std::vector<net::ValueId> staying_;  // held beyond their pass
  std::vector<bool> is_staying_;
  std::int32_t pass_ = 0;
  Sequence sequence_;
};

}  // namespace

std::optional<Sequence> expand(const GraphFacts& facts, const Decisions& choice) {
  return Expansion(facts, choice).run();
}

std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<std::int64_t> change(sequence.steps.size() + 1, 0);
  for (const Life& life : sequence.lives) {
    const std::int64_t size = facts.values[index(life.value)].bytes;
    change[index(std::max(life.made, 0))] += size;
    change[index(std::max(life.last, 0)) + 1] -= size;
    if (life.over != net::none) {  // counted once where one lies over the other
      change[index(life.made)] -= size;
      change[index(life.made) + 1] += size;
    }
  }
  std::vector<std::int64_t> memory(sequence.steps.size());
  std::int64_t live = facts.persistent_bytes;
  for (std::size_t t = 0; t < memory.size(); ++t)
    memory[t] = (live += change[t]) + facts.nodes[index(sequence.steps[t].node)].workspace;
  return memory;
}

std::vector<IdleTime> idle_times(const Sequence& sequence) {
  std::vector<IdleTime> result = sequence.idle;
  std::stable_sort(result.begin(), result.end(),
                   [](const IdleTime& x, const IdleTime& y) { return x.life < y.life; });
  return result;
}

std::vector<IdleTime> idle_by_use(const GraphFacts& facts, const Sequence& sequence,
                                  std::int64_t least_bytes) {
  const std::vector<IdleTime>& idle = sequence.idle;
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < idle.size(); ++i)
    if (facts.values[index(sequence.lives[index(idle[i].life)].value)].bytes >= least_bytes)
      numbers.push_back(static_cast<std::int32_t>(i));
  sort_by_step(numbers, static_cast<std::int32_t>(sequence.steps.size()),
               [&](std::int32_t i) { return idle[index(i)].used; });
  std::vector<IdleTime> all;
  all.reserve(numbers.size());
  for (const std::int32_t i : numbers) all.push_back(idle[index(i)]);
  for (auto from = all.begin(); from != all.end();) {
    const auto to =
        std::find_if(from, all.end(), [&](const IdleTime& eviction) { return eviction.used != from->used; });
    std::sort(from, to, [](const IdleTime& x, const IdleTime& y) {
      return x.needed != y.needed ? x.needed > y.needed : x.life < y.life;
    });
    from = to;
  }
  return all;
}

std::int32_t heir_of(const GraphFacts& facts, const Sequence& sequence, const IdleTime& eviction,
                     std::int32_t taken) {
  const std::vector<Life>& lives = sequence.lives;
  const Life& away = lives[index(eviction.life)];
  const auto& over = facts.nodes[index(sequence.steps[index(eviction.used)].node)].over;
  auto heir = std::lower_bound(lives.begin(), lives.end(), eviction.used,
                               [](const Life& life, std::int32_t step) { return life.made < step; });
  for (; heir != lives.end() && heir->made == eviction.used; ++heir) {
    const auto id = static_cast<std::int32_t>(heir - lives.begin());
    const bool as_large = facts.values[index(heir->value)].bytes == facts.values[index(away.value)].bytes;
    if (id <= taken || heir->over != net::none || !as_large) continue;
    if (std::find(over.begin(), over.end(), std::pair(heir->value, away.value)) != over.end()) return id;
  }
  return net::none;
}

}  // namespace voxswap::swap
