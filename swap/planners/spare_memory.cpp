#include "swap/planners/spare_memory.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "swap/planners/range_max.h"

namespace voxswap::swap {
namespace {

// Bytes per step, without evicted values.
std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Schedule& schedule) {
  std::vector<std::int64_t> memory = memory_of(facts, schedule.sequence);
  RangeAdd freed(memory.size());
  for (const Eviction& eviction : schedule.evictions)
    freed.add(index(eviction.free_from()), index(eviction.next_use),
              -value_of(facts, schedule.sequence, eviction).bytes);
  freed.apply(memory);
  return memory;
}

// Seconds at which steps begin without stalls; one more entry for the end.
std::vector<double> times_of(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<double> begin(sequence.steps.size() + 1, 0);
  for (std::size_t t = 0; t < sequence.steps.size(); ++t)
    begin[t + 1] = begin[t] + facts.nodes[index(sequence.steps[t].node)].seconds;
  return begin;
}

// A gap whose value is recomputed: once for its own reader, and possibly before that for other
// recomputations. In the steps [from, to) between two of its live ranges it is absent.
struct RecomputedGap {
  net::ValueId value = net::none;
  GapId gap = net::none;
  std::int64_t bytes = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> absences;
  double saved = 0;      // seconds of its recomputations
  double gain_rate = 0;  // seconds saved per byte and second of residence
};

std::vector<RecomputedGap> find_recomputed_gaps(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<double> begin = times_of(facts, sequence);
  std::vector<std::int32_t> before(facts.values.size(), net::none);  // the latest live range of each value
  std::vector<std::int32_t> at(index(facts.gaps), net::none);        // index into `gaps`
  std::vector<RecomputedGap> gaps;
  std::vector<double> absent;  // seconds
  for (std::size_t id = 0; id < sequence.live_ranges.size(); ++id) {
    const LiveRange& live_range = sequence.live_ranges[id];
    const std::int32_t previous =
        std::exchange(before[index(live_range.value)], static_cast<std::int32_t>(id));
    if (live_range.gap == net::none || previous == net::none) continue;
    std::int32_t& place = at[index(live_range.gap)];
    if (place == net::none) {
      place = static_cast<std::int32_t>(gaps.size());
      gaps.push_back(
          {live_range.value, live_range.gap, facts.values[index(live_range.value)].bytes, {}, 0, 0});
      absent.push_back(0);
    }
    const LiveRange& old = sequence.live_ranges[index(previous)];
    const std::int32_t from = old.overwritten ? old.last_use : old.last_use + 1;
    gaps[index(place)].absences.emplace_back(from, live_range.produced);
    gaps[index(place)].saved += facts.nodes[index(sequence.steps[index(live_range.produced)].node)].seconds;
    absent[index(place)] += begin[index(live_range.produced)] - begin[index(from)];
  }
  for (std::size_t i = 0; i < gaps.size(); ++i)
    gaps[i].gain_rate = gaps[i].saved / (static_cast<double>(gaps[i].bytes) * std::max(absent[i], 1e-9));
  return gaps;
}

// The time between two live ranges of a value, the second of them recomputed in a later pass.
struct Absence {
  net::ValueId value = net::none;
  std::int64_t bytes = 0;
  std::int32_t from = 0, to = 0;     // steps without it, [from, to)
  std::int32_t pass = 0, until = 0;  // retained at the ends of passes [pass, until)
  double gain_rate = 0;              // seconds saved per byte and second of residence
};

// The live ranges that the steps read, concatenated in the order of steps and inputs.
std::vector<std::int32_t> live_ranges_read(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<std::int32_t> present(facts.values.size(), net::none), read;
  std::size_t next = 0;
  for (std::int32_t step = 0; index(step) < sequence.steps.size(); ++step) {
    for (; next < sequence.live_ranges.size() && sequence.live_ranges[next].produced < step; ++next)
      present[index(sequence.live_ranges[next].value)] = static_cast<std::int32_t>(next);
    for (const net::ValueId value : facts.nodes[index(sequence.steps[index(step)].node)].reads)
      read.push_back(present[index(value)]);
  }
  return read;
}

// Per step that recomputes: its seconds plus those of the recomputations for its inputs. The time of a
// recomputation with several uses is shared among them.
std::vector<double> seconds_with_sources(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<std::int32_t> read = live_ranges_read(facts, sequence);
  std::vector<std::int32_t> uses(sequence.live_ranges.size(), 0);
  for (const std::int32_t live_range : read) ++uses[index(live_range)];
  std::vector<double> seconds(sequence.steps.size(), 0);
  auto next = read.begin();
  for (std::size_t step = 0; step < sequence.steps.size(); ++step) {
    const SequenceStep& run = sequence.steps[step];
    const NodeFacts& node = facts.nodes[index(run.node)];
    if (run.recomputed) seconds[step] = node.seconds;
    for (std::size_t i = 0; i < node.reads.size(); ++i, ++next)
      if (const LiveRange& live_range = sequence.live_ranges[index(*next)];
          run.recomputed && live_range.gap != net::none)
        seconds[step] += seconds[index(live_range.produced)] / uses[index(*next)];
  }
  return seconds;
}

std::vector<Absence> find_absences(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<double> begin = times_of(facts, sequence);
  const std::vector<double> saved = seconds_with_sources(facts, sequence);
  std::vector<std::int32_t> before(facts.values.size(), net::none);
  std::vector<Absence> absences;
  for (std::size_t id = 0; id < sequence.live_ranges.size(); ++id) {
    const LiveRange& live_range = sequence.live_ranges[id];
    const std::int32_t previous =
        std::exchange(before[index(live_range.value)], static_cast<std::int32_t>(id));
    if (live_range.gap == net::none || previous == net::none) continue;
    const LiveRange& old = sequence.live_ranges[index(previous)];
    Absence absence{live_range.value,
                    facts.values[index(live_range.value)].bytes,
                    old.overwritten ? old.last_use : old.last_use + 1,
                    live_range.produced,
                    sequence.steps[index(old.last_use)].pass,
                    sequence.steps[index(live_range.produced)].pass,
                    0};
    if (absence.pass >= absence.until) continue;
    const double absent = begin[index(absence.to)] - begin[index(absence.from)];
    absence.gain_rate =
        saved[index(live_range.produced)] / (static_cast<double>(absence.bytes) * std::max(absent, 1e-9));
    absences.push_back(absence);
  }
  return absences;
}

}  // namespace

Decisions keep_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                               std::int64_t budget, const VolumeFacts* volume) {
  std::vector<RecomputedGap> gaps = find_recomputed_gaps(facts, schedule.sequence);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const RecomputedGap& a, const RecomputedGap& b) { return a.gain_rate > b.gain_rate; });
  RangeMax most(memory_of(facts, schedule));
  using Absences = std::span<const std::pair<std::int32_t, std::int32_t>>;
  const auto stay = [&](const Absences& absences, std::int64_t bytes) {
    const bool fits = std::all_of(absences.begin(), absences.end(), [&](const auto& absence) {
      const auto [from, to] = absence;
      return from >= to || most.most(index(from), index(to)) + bytes <= budget;
    });
    if (!fits) return false;
    for (const auto& [from, to] : absences)
      if (from < to) most.add(index(from), index(to), bytes);
    return true;
  };
  for (const RecomputedGap& value : gaps) {
    if (volume != nullptr && !std::binary_search(volume->slabs.begin(), volume->slabs.end(), value.value))
      continue;
    const Absences absences = value.absences;
    if (stay(absences, value.bytes))
      decisions.recompute[index(value.gap)] = false;
    else if (absences.size() > 1 && decisions.recompute_per_use[index(value.value)] &&
             stay(absences.subspan(1), value.bytes))
      decisions.recompute_per_use[index(value.value)] = false;
  }
  return decisions;
}

Decisions retain_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                                 std::int64_t budget) {
  std::vector<Absence> absences = find_absences(facts, schedule.sequence);
  std::stable_sort(absences.begin(), absences.end(),
                   [](const Absence& a, const Absence& b) { return a.gain_rate > b.gain_rate; });
  RangeMax most(memory_of(facts, schedule));
  for (const Absence& absence : absences) {
    const std::size_t from = index(absence.from), to = index(absence.to);
    if (from < to) {
      if (most.most(from, to) + absence.bytes > budget) continue;
      most.add(from, to, absence.bytes);
    }
    for (std::int32_t pass = absence.pass; pass < absence.until; ++pass)
      decisions.retain[index(absence.value) * facts.passes + static_cast<std::size_t>(pass)] = true;
  }
  return decisions;
}

Decisions recompute_stalling_copies(const GraphFacts& facts, const Schedule& schedule, Decisions decisions,
                                    double share) {
  std::vector<std::pair<double, GapId>> waits;
  for (const Eviction& eviction : schedule.evictions) {
    const ValueFacts& value = value_of(facts, schedule.sequence, eviction);
    if (!value.recomputable || !(eviction.stall_seconds > 0)) continue;
    const double seconds = facts.nodes[index(value.producer)].seconds;
    waits.emplace_back(eviction.stall_seconds / std::max(seconds, 1e-9), eviction.gap);
  }
  std::sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const auto count = static_cast<std::size_t>(std::ceil(share * static_cast<double>(waits.size())));
  for (std::size_t i = 0; i < count; ++i) decisions.recompute[index(waits[i].second)] = true;
  return decisions;
}

std::vector<std::int32_t> costliest_volumes(const GraphFacts& facts, const Schedule& schedule) {
  const Sequence& sequence = schedule.sequence;
  const double rate = facts.problem->costs->to_device.busy;
  std::vector<double> seconds(facts.volumes.size(), 0);
  for (const Eviction& eviction : schedule.evictions) {
    const ValueFacts& value = value_of(facts, sequence, eviction);
    if (index(eviction.next_use) < sequence.steps.size())
      seconds[index(value.volume)] += static_cast<double>(value.bytes) / rate;
  }
  for (const LiveRange& live_range : sequence.live_ranges)
    if (live_range.gap != net::none)
      seconds[index(facts.values[index(live_range.value)].volume)] +=
          facts.nodes[index(sequence.steps[index(live_range.produced)].node)].seconds;
  std::vector<std::int32_t> order;
  for (std::size_t id = 0; id < seconds.size(); ++id)
    if (seconds[id] > 0) order.push_back(static_cast<std::int32_t>(id));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return seconds[index(a)] > seconds[index(b)]; });
  return order;
}

}  // namespace voxswap::swap
