// Builds a schedule: what is swapped, in which idle times, and when its memory is released and reacquired.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "base/shape.h"
#include "swap/plan/plan.h"
#include "swap/planners/graph_facts.h"
#include "swap/planners/sequence.h"

namespace voxswap::swap {

// Which lives leave the device in which of their idle times, and when their places are given up and taken
// again: everything of a plan but the offsets, on the time line of the sequence's steps.
//
// A value that leaves during a eviction, between a step that used it and one where it is needed, is copied
// out as soon as the first is done, or earlier, from the step that makes it on, where the link has the time:
// to be read does not change it. It is held until the copy is done, or the place is needed, has a place again
// where it is back and is copied in from then on, to be there when needed. Where memory is shortest, the step
// that uses it writes its own result over it (as in place, if it may): then the copy out is done before that
// step. An input is outside from the beginning, and what is read after the step may leave for good.
struct Schedule {
  Sequence sequence;
  std::vector<IdleTime> evictions;   // in which lives are away; by life, then by `used`
  std::vector<bool> on_disk;         // per life: away means on disk
  std::vector<std::int64_t> memory;  // per step, of the device
  double seconds = 0;                // estimated
  double excess = 0;                 // bytes by which it is over a budget; 0: it fits
  double moved_bytes = 0;            // both ways
};

// The part of the host pool through which values pass on their way to disk and back, where a plan uses the
// disk.
constexpr std::int64_t staging_bytes(std::int64_t host_budget) {
  constexpr std::int64_t least = 6 * disk_block;  // four blocks out, two in
  return host_budget / 4 > least ? host_budget / 4 : least;
}

enum class Prefetch {
  early,   // as early as the time of the copy asks for and memory allows
  at_use,  // when the value is needed
};

struct ScheduleOptions {
  std::int64_t device_budget = unlimited;
  Prefetch prefetch = Prefetch::early;
  std::int64_t least_bytes = 0;  // smaller values stay
  // What takes longer, as is seen by its runs or its copies alone, is not worked out: seconds and excess are
  // the largest numbers then.
  double most_seconds = std::numeric_limits<double>::max();
  std::int64_t reserve = 0;  // bytes that are left for copies on their way when it is chosen what stays
};

// Chooses the evictions so that memory is within the budget (eviction.cpp, where it is told what `bias` is),
// then host or disk, then windows and time.
Schedule schedule(const GraphFacts& facts, Sequence sequence, const std::vector<float>& bias,
                  const ScheduleOptions& options);

// For evictions chosen elsewhere: tiers, then windows and time. With fixed returns, s is taken as given.
void finish_schedule(const GraphFacts& facts, const ScheduleOptions& options, bool fixed_returns,
                     Schedule& schedule);

// Where swapped values go: to the host pool or, when that is full, to disk.
// What is away longest goes to disk when the host pool is full, what streams to neither. Sets `on_disk` of
// every life from the schedule's evictions, and raises `excess` where the disk's budget is not enough either.
// Whether all that leaves fits into the host pool together, at any time.
bool choose_tiers(const GraphFacts& facts, Schedule& schedule);

// Which values are swapped out, and in which of their idle times.
struct EvictionLimits {
  std::int64_t memory = 0;       // of the device, in every step
  std::int64_t least_bytes = 0;  // smaller values stay
};

// Appends to the schedule's evictions those in which lives leave, so that its memory, which counts all that
// is live, comes to no more than the limit; where no choice does, it stays above. At the first step that is
// over it, what is needed again last leaves first (Belady 1966), as `begin` says when steps begin; `bias` per
// value multiplies the time to its next use. What the step itself may write over counts among those. In the
// end what turned out not to be needed stays after all.
void choose_evictions(const GraphFacts& facts, const std::vector<double>& begin,
                      const std::vector<float>& bias, const EvictionLimits& limits, Schedule& schedule);

// When exchanges with other ranks run on the time line of steps: concurrently with the steps that follow, one
// after the other.
class ExchangeLane {
 public:
  explicit ExchangeLane(const GraphFacts& facts) : facts_(facts) {}

  // When a node begins for which all else is there at `ready`; steps come in their order.
  double begin(net::NodeId id, double ready) {
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::NodeId exchange : node.awaits) ready = std::max(ready, done_[exchange]);
    if (node.exchanges) done_[id] = free_ = std::max(free_, ready) + node.exchange_seconds;
    return ready;
  }

 private:
  const GraphFacts& facts_;
  double free_ = 0;
  std::map<net::NodeId, double> done_;
};

}  // namespace voxswap::swap
