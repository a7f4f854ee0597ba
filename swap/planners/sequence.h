// The order in which nodes run under the decisions of the search: the graph's nodes in order, with
// recomputations of earlier nodes in between.
#pragma once

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "swap/planners/decisions.h"

namespace voxswap::swap {

// The steps of a sequence in which a value must be resident, from its production to its last use. A value
// that is recomputed has a further live range.
struct LiveRange {
  net::ValueId value = net::none;
  std::int32_t produced = 0;             // step; -1: there before the first step
  std::int32_t last_use = 0;             // step; `produced` without a use; the last step for kept values
  std::int32_t in_place_of = net::none;  // live range whose memory it takes over in step `produced`
  bool overwritten = false;              // a later live range takes over its memory
  GapId gap = net::none;                 // in which it was recomputed; none: the value's first live range
};

struct SequenceStep {
  net::NodeId node = net::none;
  bool recomputed = false;
  std::int32_t pass = 0;  // over the volumes (graph_facts.h)
};

// The eviction of a live range between two of its uses: a candidate here, with its copies in a schedule
// (scheduling.h).
struct Eviction {
  std::int32_t live_range = net::none;
  // Steps of the uses before and after. last_use = -1: before the first step. next_use = number of steps: the
  // value is read after the step, from outside the device, and is not swapped in.
  std::int32_t last_use = 0, next_use = 0;
  // Its memory is free from the step after `resident_until` to the one before `resident_from`:
  // last_use <= resident_until < resident_from <= next_use. resident_until = last_use - 1 if another value
  // takes over its memory.
  std::int32_t resident_until = 0, resident_from = 0;
  // The first eviction of the live range, which needs a copy out. For later ones, and for inputs, a copy
  // outside the device exists already.
  bool first = true;
  std::int32_t copied_out_after = last_use;     // step; at most last_use and resident_until, if first
  std::int32_t in_place_successor = net::none;  // live range produced in step last_use in the same memory
  GapId gap = net::none;                        // of the value
  double stall_seconds = 0;                     // for which steps wait for its copies

  // The first step in which its memory is free.
  std::int32_t free_from() const { return in_place_successor == net::none ? last_use + 1 : last_use; }
};

struct Sequence {
  std::vector<SequenceStep> steps;
  std::vector<LiveRange> live_ranges;  // by `produced`
  std::vector<Eviction> candidates;    // one for every two uses with a step in between, by `next_use`
};

// The sequence of these decisions. The source of a recomputation that is not resident is recomputed as well:
// for this one use if that is cheap or recompute_per_use says so, otherwise it stays until its own reader.
// Nothing when a node would run again after its parameters were updated, or when the sequence would have more
// than eight times as many steps as the graph has nodes.
std::optional<Sequence> expand(const GraphFacts& facts, const Decisions& decisions);

// The value that an eviction concerns.
inline const ValueFacts& value_of(const GraphFacts& facts, const Sequence& sequence,
                                  const Eviction& eviction) {
  return facts.values[index(sequence.live_ranges[index(eviction.live_range)].value)];
}

// All candidates by live range, then by last use, for planners with rules of their own.
std::vector<Eviction> eviction_candidates(const Sequence& sequence);

// Candidates of at least `least_bytes`, by last use, then the farthest next use first.
std::vector<Eviction> candidates_by_last_use(const GraphFacts& facts, const Sequence& sequence,
                                             std::int64_t least_bytes);

// A live range of the same size that step eviction.last_use can produce in place of the evicted one, with a
// number above `taken`; none if there is none.
std::int32_t in_place_successor_of(const GraphFacts& facts, const Sequence& sequence,
                                   const Eviction& eviction, std::int32_t taken);

// Bytes per step without evictions.
std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Sequence& sequence);

// Counting sort of `numbers` by step, stable, in linear time: a schedule in slabs has thousands of steps and
// evictions, and the search builds thousands of schedules. REQUIRES: step_of(number) is from -1 to `steps`.
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
