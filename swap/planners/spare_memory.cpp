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

// Bytes per step, without what is away.
std::vector<std::int64_t> memory_of(const GraphFacts& facts, const Schedule& schedule) {
  std::vector<std::int64_t> memory = memory_of(facts, schedule.sequence);
  RangeAdd away(memory.size());
  for (const IdleTime& eviction : schedule.evictions)
    away.add(index(eviction.free_from()), index(eviction.needed),
             -facts.values[index(schedule.sequence.lives[index(eviction.life)].value)].bytes);
  away.apply(memory);
  return memory;
}

// Seconds at which steps begin, one after the other; one more entry at the end.
std::vector<double> times_of(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<double> begin(sequence.steps.size() + 1, 0);
  for (std::size_t t = 0; t < sequence.steps.size(); ++t)
    begin[t + 1] = begin[t] + facts.nodes[index(sequence.steps[t].node)].seconds;
  return begin;
}

// A gap in which a value is made again: once for its reader, before that maybe for others. Steps [from, to)
// in which it is not there are those between each two of its lives.
struct Dropped {
  net::ValueId value = net::none;
  GapId gap = net::none;
  std::int64_t bytes = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> absences;
  double saved = 0;      // seconds of its runs
  double gain_rate = 0;  // of that, for every byte and second that it would be there
};

std::vector<Dropped> find_dropped(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<double> begin = times_of(facts, sequence);
  std::vector<std::int32_t> before(facts.values.size(), net::none);  // the value's last life so far
  std::vector<std::int32_t> at(index(facts.gaps), net::none);        // in `dropped`
  std::vector<Dropped> dropped;
  std::vector<double> absent;  // seconds
  for (std::size_t id = 0; id < sequence.lives.size(); ++id) {
    const Life& life = sequence.lives[id];
    const std::int32_t previous = std::exchange(before[index(life.value)], static_cast<std::int32_t>(id));
    if (life.gap == net::none || previous == net::none) continue;
    std::int32_t& place = at[index(life.gap)];
    if (place == net::none) {
      place = static_cast<std::int32_t>(dropped.size());
      dropped.push_back({life.value, life.gap, facts.values[index(life.value)].bytes, {}, 0, 0});
      absent.push_back(0);
    }
    const Life& old = sequence.lives[index(previous)];
    const std::int32_t from = old.left ? old.last : old.last + 1;
    dropped[index(place)].absences.emplace_back(from, life.made);
    dropped[index(place)].saved += facts.nodes[index(sequence.steps[index(life.made)].node)].seconds;
    absent[index(place)] += begin[index(life.made)] - begin[index(from)];
  }
  for (std::size_t i = 0; i < dropped.size(); ++i)
    dropped[i].gain_rate =
        dropped[i].saved / (static_cast<double>(dropped[i].bytes) * std::max(absent[i], 1e-9));
  return dropped;
}

// Between two lives of a value of which the second is made again, in a later pass.
struct Absence {
  net::ValueId value = net::none;
  std::int64_t bytes = 0;
  std::int32_t from = 0, to = 0;     // steps without it, [from, to)
  std::int32_t pass = 0, until = 0;  // held at the ends of passes [pass, until)
  double gain_rate = 0;              // seconds saved for every byte and second that it would be there
};

// Of every step, one after the other, the lives of what its node reads.
std::vector<std::int32_t> lives_read(const GraphFacts& facts, const Sequence& sequence) {
  std::vector<std::int32_t> present(facts.values.size(), net::none), read;
  std::size_t next = 0;
  for (std::int32_t step = 0; index(step) < sequence.steps.size(); ++step) {
    for (; next < sequence.lives.size() && sequence.lives[next].made < step; ++next)
      present[index(sequence.lives[next].value)] = static_cast<std::int32_t>(next);
    for (const net::ValueId value : facts.nodes[index(sequence.steps[index(step)].node)].reads)
      read.push_back(present[index(value)]);
  }
  return read;
}

// Of every step that makes something again its seconds and those of the runs for what it reads, of a run for
// several its part.
std::vector<double> seconds_with_sources(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<std::int32_t> read = lives_read(facts, sequence);
  std::vector<std::int32_t> uses(sequence.lives.size(), 0);
  for (const std::int32_t life : read) ++uses[index(life)];
  std::vector<double> seconds(sequence.steps.size(), 0);
  auto next = read.begin();
  for (std::size_t step = 0; step < sequence.steps.size(); ++step) {
    const SequenceStep& run = sequence.steps[step];
    const NodeFacts& node = facts.nodes[index(run.node)];
    if (run.again) seconds[step] = node.seconds;
    for (std::size_t i = 0; i < node.reads.size(); ++i, ++next)
      if (const Life& life = sequence.lives[index(*next)]; run.again && life.gap != net::none)
        seconds[step] += seconds[index(life.made)] / uses[index(*next)];
  }
  return seconds;
}

std::vector<Absence> find_absences(const GraphFacts& facts, const Sequence& sequence) {
  const std::vector<double> begin = times_of(facts, sequence);
  const std::vector<double> saved = seconds_with_sources(facts, sequence);
  std::vector<std::int32_t> before(facts.values.size(), net::none);
  std::vector<Absence> absences;
  for (std::size_t id = 0; id < sequence.lives.size(); ++id) {
    const Life& life = sequence.lives[id];
    const std::int32_t previous = std::exchange(before[index(life.value)], static_cast<std::int32_t>(id));
    if (life.gap == net::none || previous == net::none) continue;
    const Life& old = sequence.lives[index(previous)];
    Absence absence{life.value, facts.values[index(life.value)].bytes, old.left ? old.last : old.last + 1,
                    life.made,  sequence.steps[index(old.last)].pass,  sequence.steps[index(life.made)].pass,
                    0};
    if (absence.pass >= absence.until) continue;
    const double absent = begin[index(absence.to)] - begin[index(absence.from)];
    absence.gain_rate =
        saved[index(life.made)] / (static_cast<double>(absence.bytes) * std::max(absent, 1e-9));
    absences.push_back(absence);
  }
  return absences;
}

}  // namespace

Decisions keep_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
                               std::int64_t budget, const VolumeFacts* volume) {
  std::vector<Dropped> dropped = find_dropped(facts, schedule.sequence);
  std::stable_sort(dropped.begin(), dropped.end(),
                   [](const Dropped& a, const Dropped& b) { return a.gain_rate > b.gain_rate; });
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
  for (const Dropped& value : dropped) {
    if (volume != nullptr && !std::binary_search(volume->pieces.begin(), volume->pieces.end(), value.value))
      continue;
    const Absences absences = value.absences;
    if (stay(absences, value.bytes))
      choice.again[index(value.gap)] = false;
    else if (absences.size() > 1 && choice.alone[index(value.value)] &&
             stay(absences.subspan(1), value.bytes))
      choice.alone[index(value.value)] = false;
  }
  return choice;
}

Decisions hold_in_spare_memory(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
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
      choice.held[index(absence.value) * facts.passes + static_cast<std::size_t>(pass)] = true;
  }
  return choice;
}

Decisions recompute_awaited_copies(const GraphFacts& facts, const Schedule& schedule, Decisions choice,
                                   double share) {
  std::vector<std::pair<double, GapId>> waits;
  for (const IdleTime& eviction : schedule.evictions) {
    const ValueFacts& value = facts.values[index(schedule.sequence.lives[index(eviction.life)].value)];
    if (!value.repeatable || !(eviction.waited > 0)) continue;
    const double seconds = facts.nodes[index(value.producer)].seconds;
    waits.emplace_back(eviction.waited / std::max(seconds, 1e-9), eviction.gap);
  }
  std::sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const auto count = static_cast<std::size_t>(std::ceil(share * static_cast<double>(waits.size())));
  for (std::size_t i = 0; i < count; ++i) choice.again[index(waits[i].second)] = true;
  return choice;
}

std::vector<std::int32_t> costliest_volumes(const GraphFacts& facts, const Schedule& schedule) {
  const Sequence& sequence = schedule.sequence;
  const double rate = facts.request->costs->to_device.busy;
  std::vector<double> seconds(facts.volumes.size(), 0);
  for (const IdleTime& eviction : schedule.evictions) {
    const ValueFacts& value = facts.values[index(sequence.lives[index(eviction.life)].value)];
    if (index(eviction.needed) < sequence.steps.size())
      seconds[index(value.volume)] += static_cast<double>(value.bytes) / rate;
  }
  for (const Life& life : sequence.lives)
    if (life.gap != net::none)
      seconds[index(facts.values[index(life.value)].volume)] +=
          facts.nodes[index(sequence.steps[index(life.made)].node)].seconds;
  std::vector<std::int32_t> order;
  for (std::size_t id = 0; id < seconds.size(); ++id)
    if (seconds[id] > 0) order.push_back(static_cast<std::int32_t>(id));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return seconds[index(a)] > seconds[index(b)]; });
  return order;
}

}  // namespace voxswap::swap
