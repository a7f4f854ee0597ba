// Belady's rule: chooses what is evicted (choose_evictions in scheduling.h). What is recomputed instead was
// decided before, in hill_climb.cpp.
#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>

#include "base/shape.h"
#include "swap/planners/range_max.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {
namespace {

class Evictions {
 public:
  Evictions(const GraphFacts& facts, const std::vector<double>& begin, const std::vector<float>& bias,
            const EvictionLimits& limits, Schedule& schedule)
      : facts_(facts), begin_(begin), bias_(bias), limits_(limits), schedule_(schedule) {}

  void run() {
    pick(candidates_by_last_use(facts_, schedule_.sequence, limits_.least_bytes));
    cancel_evictions_that_fit();
  }

 private:
  std::int64_t bytes(const Eviction& eviction) const {
    return value_of(facts_, schedule_.sequence, eviction).bytes;
  }

  struct Candidate {
    double key;  // time of the next use, times the bias
    std::int32_t next_use, eviction;
    bool operator<(const Candidate& other) const {
      return key != other.key ? key < other.key : eviction > other.eviction;
    }
  };

  void pick(const std::vector<Eviction>& all) {
    std::priority_queue<Candidate> farthest;
    std::vector<std::int64_t> swapped_in(schedule_.memory.size() + 1, 0);  // bytes needed again at a step
    std::int64_t evicted = 0;
    std::size_t next = 0;
    std::vector<std::int64_t>& memory = schedule_.memory;
    const auto take = [&](const Eviction& eviction) {
      schedule_.evictions.push_back(eviction);
      evicted += bytes(eviction);
      swapped_in[index(eviction.next_use)] += bytes(eviction);
    };
    std::vector<bool> listed(all.size(), false);
    const auto consider = [&](std::size_t i) {
      const Eviction& eviction = all[i];
      const net::ValueId value = schedule_.sequence.live_ranges[index(eviction.live_range)].value;
      farthest.push({begin_[index(eviction.next_use)] * bias_[index(value)], eviction.next_use,
                     static_cast<std::int32_t>(i)});
      listed[i] = true;
    };
    for (std::int32_t t = 0; index(t) < memory.size(); ++t) {
      evicted -= swapped_in[index(t)];
      for (; next < all.size() && all[next].last_use < t; ++next)
        if (!listed[next]) consider(next);
      if (memory[index(t)] - evicted > limits_.memory)
        for (std::size_t i = next; i < all.size() && all[i].last_use == t; ++i)
          if (in_place_successor_of(facts_, schedule_.sequence, all[i], net::none) != net::none) consider(i);
      std::int32_t successor = net::none;
      while (memory[index(t)] - evicted > limits_.memory && !farthest.empty()) {
        const Candidate top = farthest.top();
        farthest.pop();
        if (top.next_use <= t) continue;
        Eviction eviction = all[index(top.eviction)];
        if (eviction.last_use == t) {
          eviction.in_place_successor =
              in_place_successor_of(facts_, schedule_.sequence, eviction, successor);
          listed[index(top.eviction)] = eviction.in_place_successor != net::none;
          if (eviction.in_place_successor == net::none) continue;
          successor = eviction.in_place_successor;
        }
        take(eviction);
      }
    }
    RangeAdd freed(memory.size());
    for (const Eviction& eviction : schedule_.evictions)
      freed.add(index(eviction.free_from()), index(eviction.next_use), -bytes(eviction));
    freed.apply(memory);
  }

  // Cancels the shortest evictions first.
  void cancel_evictions_that_fit() {
    std::vector<Eviction>& chosen = schedule_.evictions;
    std::vector<std::size_t> order(chosen.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
      return chosen[x].next_use - chosen[x].last_use < chosen[y].next_use - chosen[y].last_use;
    });
    std::vector<bool> cancelled(chosen.size(), false);
    RangeMax memory(schedule_.memory);
    RangeAdd kept(schedule_.memory.size());
    for (const std::size_t i : order) {
      const std::int64_t size = bytes(chosen[i]);
      const std::size_t from = index(chosen[i].free_from()), to = index(chosen[i].next_use);
      cancelled[i] = memory.most(from, to) + size <= limits_.memory;
      if (!cancelled[i]) continue;
      memory.add(from, to, size);
      kept.add(from, to, size);
    }
    kept.apply(schedule_.memory);
    std::vector<Eviction> needed;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (!cancelled[i]) needed.push_back(chosen[i]);
    chosen = std::move(needed);
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
  Evictions(facts, begin, bias, limits, schedule).run();
}

}  // namespace voxswap::swap
