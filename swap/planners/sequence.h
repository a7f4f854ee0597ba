// The order in which nodes run when some values are recomputed instead of kept: the graph's nodes in order,
// with repeated runs of earlier nodes in between.
#pragma once

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "swap/planners/decisions.h"

namespace voxswap::swap {

// One life of a value, from where it is made to its last use: steps in which it is needed on the device.
struct Life {
  net::ValueId value = net::none;
  std::int32_t made = 0;          // step; -1: there before the first
  std::int32_t last = 0;          // step of the last use, `made` without any; kept values: the last step
  std::int32_t over = net::none;  // life whose place it takes over at `made`
  bool left = false;              // some later life takes its place over
  GapId gap = net::none;          // in which it was made again; none: its first life
};

struct SequenceStep {
  net::NodeId node = net::none;
  bool again = false;
  std::int32_t pass = 0;  // of the step (graph_facts.h), in which it runs
};

// A time without a use of a life between two of them, and how a schedule lets the life leave in it
// (scheduling.h).
struct IdleTime {
  std::int32_t life = net::none;
  // Steps of the uses around it; used = -1: before the first step; needed = number of steps: after the last
  // one, from outside, and the life does not come back.
  std::int32_t used = 0, needed = 0;
  // Its place is given up after the one step and there again from the other on: used <= held_until < back_at
  // <= needed. held_until = used - 1 where its place is taken over.
  std::int32_t held_until = 0, back_at = 0;
  // The life leaves here for the first time: later a copy is outside already, of inputs from the beginning.
  bool first = true;
  std::int32_t copied_after =
      used;  // step after which the copy out starts, if first: at most used and held_until
  std::int32_t heir =
      net::none;          // life made at step `used` over this one, of which a copy is outside by then
  GapId gap = net::none;  // of the value, in which it is idle
  double waited = 0;      // seconds by which steps start later because its copies are not done

  std::int32_t free_from() const {
    return heir == net::none ? used + 1 : used;
  }  // first step that counts without it
};

struct Sequence {
  std::vector<SequenceStep> steps;
  std::vector<Life> lives;
  std::vector<IdleTime> idle;  // all times in which a life is idle for a step or more, by `needed`
};

// What is made again in a gap is dropped at the gap's begin and made again when it is next needed, unless it
// is held. What was dropped and is needed to make something else again is made for that alone when it is
// cheap to make again from what is on hand, and otherwise kept from then until its own reader, unless it is
// one of those that are made for every reader anew. Empty when a node would have to run again after its
// parameters were updated, or when there would be more than eight times as many runs as nodes.
std::optional<Sequence> expand(const GraphFacts& facts, const Decisions& choice);

// All idle times by life, then by `used`: candidates for planners with rules of their own.
std::vector<IdleTime> idle_times(const Sequence& sequence);

// Of those of at least so many bytes: by the step that uses the life last before, then what is needed last
// first.
std::vector<IdleTime> idle_by_use(const GraphFacts& facts, const Sequence& sequence,
                                  std::int64_t least_bytes);

// A life that the step which uses the eviction's may make over it, of the same size, above `taken`; none:
// there is none.
std::int32_t heir_of(const GraphFacts& facts, const Sequence& sequence, const IdleTime& eviction,
                     std::int32_t taken);

// Bytes per step when nothing leaves.
std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Sequence& sequence);

// Numbers of things in order of a step of each, in time that grows with their count and that of the steps: a
// schedule in pieces has thousands of both, and is judged thousands of times.

// step_of(number) is from -1 to `steps`; those of one step stay in their order.
template <class Of>
void sort_by_step(std::vector<std::int32_t>& numbers, std::int32_t steps, Of step_of) {
  std::vector<std::int32_t> place(index(steps) + 3, 0);
  for (const std::int32_t number : numbers) ++place[index(step_of(number) + 2)];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<std::int32_t> sorted(numbers.size());
  for (const std::int32_t number : numbers) sorted[index(place[index(step_of(number) + 1)]++)] = number;
  numbers = std::move(sorted);
}

}  // namespace voxswap::swap
