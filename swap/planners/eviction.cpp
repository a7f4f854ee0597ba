#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>

#include "base/shape.h"
#include "swap/planners/range_max.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {
namespace {

class Chooser {
 public:
  Chooser(const GraphFacts& facts, const std::vector<double>& begin, const std::vector<float>& bias,
          const EvictionLimits& limits, Schedule& schedule)
      : facts_(facts), begin_(begin), bias_(bias), limits_(limits), schedule_(schedule) {}

  void run() {
    pick(idle_by_use(facts_, schedule_.sequence, limits_.least_bytes));
    keep_what_can_stay();
  }

 private:
  std::int64_t bytes(const IdleTime& eviction) const {
    return facts_.values[index(schedule_.sequence.lives[index(eviction.life)].value)].bytes;
  }

  struct Candidate {
    double key;
    std::int32_t needed, eviction;
    bool operator<(const Candidate& other) const {
      return key != other.key ? key < other.key : eviction > other.eviction;
    }
  };

  void pick(const std::vector<IdleTime>& all) {
    std::priority_queue<Candidate> waiting;
    std::vector<std::int64_t> back(schedule_.memory.size() + 1, 0);  // bytes that return at a step
    std::int64_t away = 0;
    std::size_t next = 0;
    std::vector<std::int64_t>& memory = schedule_.memory;
    const auto take = [&](const IdleTime& eviction) {
      schedule_.evictions.push_back(eviction);
      away += bytes(eviction);
      back[index(eviction.needed)] += bytes(eviction);
    };
    std::vector<bool> known(all.size(), false);
    const auto consider = [&](std::size_t i) {
      const IdleTime& eviction = all[i];
      const net::ValueId value = schedule_.sequence.lives[index(eviction.life)].value;
      waiting.push({begin_[index(eviction.needed)] * bias_[index(value)], eviction.needed,
                    static_cast<std::int32_t>(i)});
      known[i] = true;
    };
    for (std::int32_t t = 0; index(t) < memory.size(); ++t) {
      away -= back[index(t)];
      for (; next < all.size() && all[next].used < t; ++next)
        if (!known[next]) consider(next);
      if (memory[index(t)] - away > limits_.memory)
        for (std::size_t i = next; i < all.size() && all[i].used == t; ++i)
          if (heir_of(facts_, schedule_.sequence, all[i], net::none) != net::none) consider(i);
      std::int32_t heir = net::none;
      while (memory[index(t)] - away > limits_.memory && !waiting.empty()) {
        const Candidate top = waiting.top();
        waiting.pop();
        if (top.needed <= t) continue;
        IdleTime eviction = all[index(top.eviction)];
        if (eviction.used == t) {
          eviction.heir = heir_of(facts_, schedule_.sequence, eviction, heir);
          known[index(top.eviction)] = eviction.heir != net::none;
          if (eviction.heir == net::none) continue;
          heir = eviction.heir;
        }
        take(eviction);
      }
    }
    RangeAdd left(memory.size());
    for (const IdleTime& eviction : schedule_.evictions)
      left.add(index(eviction.free_from()), index(eviction.needed), -bytes(eviction));
    left.apply(memory);
  }

  // The shortest absences are ended first.
  void keep_what_can_stay() {
    std::vector<IdleTime>& chosen = schedule_.evictions;
    std::vector<std::size_t> order(chosen.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
      return chosen[x].needed - chosen[x].used < chosen[y].needed - chosen[y].used;
    });
    std::vector<bool> stays(chosen.size(), false);
    RangeMax memory(schedule_.memory);
    RangeAdd kept(schedule_.memory.size());
    for (const std::size_t i : order) {
      const std::int64_t size = bytes(chosen[i]);
      const std::size_t from = index(chosen[i].free_from()), to = index(chosen[i].needed);
      stays[i] = from >= to || memory.most(from, to) + size <= limits_.memory;
      if (!stays[i] || from >= to) continue;
      memory.add(from, to, size);
      kept.add(from, to, size);
    }
    kept.apply(schedule_.memory);
    std::vector<IdleTime> rest;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (!stays[i]) rest.push_back(chosen[i]);
    chosen = std::move(rest);
  }

  const GraphFacts& facts_;
  const std::vector<double>& begin_;
  const std::vector<float>& bias_;
  EvictionLimits limits_;
  Schedule& schedule_;
};

}  // namespace

void choose_evictions(const GraphFacts& facts, const std::vector<double>& begin,
                      const std::vector<float>& bias, const EvictionLimits& limits, Schedule& schedule) {
  Chooser(facts, begin, bias, limits, schedule).run();
}

}  // namespace voxswap::swap
