// Builds a schedule from a sequence: which live ranges are evicted between which uses, when their memory is
// freed and allocated again, and how long the step then takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/shape.h"
#include "swap/plan/plan.h"
#include "swap/planners/graph_facts.h"
#include "swap/planners/sequence.h"

namespace voxswap::swap {

// A plan without offsets, on the time line of the sequence's steps.
//
// An evicted value is copied out after its last use, or earlier, from its production on, while the link is
// free: reading does not change a value. Its memory stays allocated until the copy is done or the memory is
// needed. The memory is allocated again in time for the copy in to finish before the next use. Where memory
// is shortest, the step of the last use may overwrite the value in place; the copy out then ends before that
// step. Inputs have a copy in host memory from the start; results of the step need not be copied back.
struct Schedule {
  Sequence sequence;
  std::vector<Eviction> evictions;   // by live range, then by last_use
  std::vector<bool> on_disk;         // per live range: evicted to disk, not to the host pool
  std::vector<std::int64_t> memory;  // device bytes, per step
  double seconds = 0;                // estimated
  double excess = 0;                 // bytes over a budget; 0: it fits
  double moved_bytes = 0;            // in both directions
};

// The part of the host pool that stages copies to and from disk, in plans that use the disk.
constexpr std::int64_t staging_bytes(std::int64_t host_budget) {
  constexpr std::int64_t least = 6 * disk_block;  // four blocks out, two in
  return host_budget / 4 > least ? host_budget / 4 : least;
}

struct ScheduleOptions {
  std::int64_t device_budget = unlimited;
  std::int64_t least_bytes = 0;  // smaller values stay on the device
  // Abandon a schedule whose nodes alone, or copies alone, take longer: seconds and excess are then the
  // largest numbers.
  double most_seconds = std::numeric_limits<double>::max();
  std::int64_t reserve = 0;  // bytes that evictions leave free for copies in flight
};

// Chooses evictions until memory is within the budget (choose_evictions), then a tier for each, then the
// times of their copies.
Schedule schedule(const GraphFacts& facts, Sequence sequence, const std::vector<float>& bias,
                  const ScheduleOptions& options);

// Tiers and times for given evictions. fixed_swap_ins: keeps their `resident_from`.
void finish_schedule(const GraphFacts& facts, const ScheduleOptions& options, bool fixed_swap_ins,
                     Schedule& schedule);

// Chooses the tier of every evicted live range: the host pool or, where that is full, disk for those whose
// next use is latest. Streamed values need neither. Sets `on_disk`, and raises `excess` if the disk budget is
// exceeded as well. Returns whether everything fits into the host pool at once, so that copies out may start
// at any time.
bool choose_tiers(const GraphFacts& facts, Schedule& schedule);

struct EvictionLimits {
  std::int64_t memory = 0;       // device bytes, in every step
  std::int64_t least_bytes = 0;  // smaller values stay on the device
};

// The rule that decides what is swapped. At the first step that exceeds the limit, evict the value whose next
// use is farthest in the future (Belady 1966), until the step fits; then go on to the next step. `begin`:
// seconds at which steps begin; `bias`: per value, multiplies the time of its next use. An input that the
// step may overwrite in place is a candidate, too. At the end, evictions that turned out not to be needed are
// cancelled, the shortest first. Appends to schedule.evictions and lowers schedule.memory, which may stay
// above the limit if there are not enough candidates.
void choose_evictions(const GraphFacts& facts, const std::vector<double>& begin,
                      const std::vector<float>& bias, const EvictionLimits& limits, Schedule& schedule);

// The times of exchanges with other ranks: one at a time, concurrently with the steps that follow.
class ExchangeLane {
 public:
  explicit ExchangeLane(const GraphFacts& facts) : facts_(facts) {}

  // When a node begins whose other inputs are ready at `ready`. Call it for every step, in order.
  double begin(net::NodeId id, double ready) {
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::NodeId exchange : node.awaited_exchanges) ready = std::max(ready, done_[exchange]);
    if (node.exchanges) done_[id] = free_ = std::max(free_, ready) + node.exchange_seconds;
    return ready;
  }

 private:
  const GraphFacts& facts_;
  double free_ = 0;
  std::map<net::NodeId, double> done_;
};

}  // namespace voxswap::swap
