#include "swap/planners/scheduling.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/shape.h"
#include "swap/planners/range_max.h"

namespace voxswap::swap {
namespace {

class Scheduler {
 public:
  Scheduler(const GraphFacts& facts, const ScheduleOptions& options, Schedule& schedule)
      : facts_(facts),
        options_(options),
        costs_(*facts.request->costs),
        schedule_(schedule),
        steps_(static_cast<std::int32_t>(schedule.sequence.steps.size())),
        budget_(options.device_budget) {
    begin_.resize(index(steps_) + 1);
    idle_time_line();
  }

  void choose(const std::vector<float>& bias) {
    schedule_.memory = memory_of(facts_, schedule_.sequence);
    if (*std::max_element(schedule_.memory.begin(), schedule_.memory.end()) <= budget_) return;
    if (facts_.request->budgets.host == 0) {  // nothing can leave
      note_excess();
      return;
    }
    choose_evictions(facts_, begin_, bias, {budget_ - options_.reserve, options_.least_bytes}, schedule_);
    note_excess();
  }

  // Runs one after the other take longer than is of use, or copies in do; sets seconds and excess then.
  bool is_too_long() {
    if (options_.most_seconds == std::numeric_limits<double>::max()) return false;
    double in = 0;
    for (const IdleTime& eviction : schedule_.evictions)
      if (eviction.needed < steps_) in += static_cast<double>(bytes(eviction));
    if (std::max(begin_.back(), in / costs_.to_device.busy) <= options_.most_seconds) return false;
    schedule_.seconds = schedule_.excess = std::numeric_limits<double>::max();
    return true;
  }

  void finish(bool fixed_returns) {
    std::sort(schedule_.evictions.begin(), schedule_.evictions.end(),
              [](auto& x, auto& y) { return std::tuple(x.life, x.used) < std::tuple(y.life, y.used); });
    std::int32_t before = net::none;
    for (IdleTime& eviction : schedule_.evictions) {
      eviction.first = eviction.life != before && made(eviction) >= 0;
      before = eviction.life;
    }
    all_in_host_ = choose_tiers(facts_, schedule_);
    schedule_.memory = memory_of(facts_, schedule_.sequence);
    RangeAdd away(schedule_.memory.size());
    for (IdleTime& eviction : schedule_.evictions) {
      if (!fixed_returns) eviction.back_at = eviction.needed;
      away.add(index(eviction.free_from()), index(eviction.back_at), -bytes(eviction));
    }
    away.apply(schedule_.memory);
    note_excess();
    order_copies();
    const std::vector<std::int64_t> without = schedule_.memory;
    double best = std::numeric_limits<double>::max();
    std::vector<IdleTime> best_evictions;
    std::vector<std::int64_t> best_memory;
    for (int round = 0; round < 3; ++round) {
      schedule_.memory = without;
      if (!fixed_returns)
        for (IdleTime& eviction : schedule_.evictions) eviction.back_at = eviction.needed;
      leave_windows();
      if (!fixed_returns) return_windows();
      run();
      if (schedule_.seconds >= best) break;
      best = schedule_.seconds;
      best_evictions = schedule_.evictions;
      best_memory = schedule_.memory;
    }
    schedule_.seconds = best;
    schedule_.evictions = std::move(best_evictions);
    schedule_.memory = std::move(best_memory);
  }

 private:
  std::int64_t bytes(const IdleTime& eviction) const {
    return facts_.values[index(schedule_.sequence.lives[index(eviction.life)].value)].bytes;
  }
  std::int32_t made(const IdleTime& eviction) const {
    return schedule_.sequence.lives[index(eviction.life)].made;
  }
  double duration(std::int32_t step) const {
    return facts_.nodes[index(schedule_.sequence.steps[index(step)].node)].seconds;
  }
  double end_of(std::int32_t step) const { return step < 0 ? 0 : end_[index(step)]; }

  void idle_time_line() {
    end_.resize(index(steps_));
    double now = 0;
    for (std::int32_t t = 0; t < steps_; ++t) {
      begin_[index(t)] = now;
      end_[index(t)] = now += duration(t);
    }
    begin_[index(steps_)] = now;
  }

  void note_excess() {
    const std::int64_t most = *std::max_element(schedule_.memory.begin(), schedule_.memory.end());
    schedule_.excess = std::max(schedule_.excess, static_cast<double>(most - budget_));
  }

  // Copies in run in the order in which they are needed, copies out in the order in which places are given up
  // or as they are made: a link does one after the other.
  void order_copies() {
    by_free_from_.clear();
    in_order_.clear();
    for (std::size_t i = 0; i < schedule_.evictions.size(); ++i) {
      if (schedule_.evictions[i].first) by_free_from_.push_back(static_cast<std::int32_t>(i));
      if (schedule_.evictions[i].needed < steps_) in_order_.push_back(static_cast<std::int32_t>(i));
    }
    sort_by(by_free_from_, &IdleTime::free_from);
    out_order_ = by_made_ = by_free_from_;
    sort_by(by_made_, [&](const IdleTime& eviction) { return made(eviction); });
    sort_by(in_order_, &IdleTime::needed);
    out_done_.assign(schedule_.evictions.size(), 0);
    in_done_.assign(schedule_.evictions.size(), 0);
  }
  // Numbers of evictions, by something of each.
  template <class Of>
  void sort_by(std::vector<std::int32_t>& numbers, Of of) const {
    sort_by_step(numbers, steps_,
                 [&](std::int32_t i) { return std::invoke(of, schedule_.evictions[index(i)]); });
  }

  // A link, and the disk behind it.
  struct Way {
    double link = 0, disk = 0;  // when they are free
  };
  double pass(Way& way, double from, const IdleTime& eviction, const Link& link, const Link& disk) const {
    const double start = std::max(from, way.link);
    const auto size = static_cast<double>(bytes(eviction));
    way.link = start + size / link.busy + costs_.copy_seconds;
    if (!schedule_.on_disk[index(eviction.life)]) return way.link;
    way.disk = std::max(start, way.disk) + size / disk.busy + costs_.disk_seconds;
    return way.link = std::max(way.link, way.disk);
  }

  // Copies out as early as the link is free: of what is made by then, what is to leave first.
  void copy_early() {
    const auto& all = schedule_.evictions;
    const auto later = [&](std::int32_t x, std::int32_t y) {
      const std::int32_t first = all[index(x)].free_from(), second = all[index(y)].free_from();
      return first != second ? first > second : x > y;
    };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(later)> made_by_now(later);
    Way way;
    std::int32_t step = -1;
    for (std::size_t next = 0; next < by_made_.size() || !made_by_now.empty();) {
      if (made_by_now.empty()) step = std::max(step, made(all[index(by_made_[next])]));
      while (step < steps_ - 1 && end_of(step) < way.link) ++step;
      for (; next < by_made_.size() && made(all[index(by_made_[next])]) <= step; ++next)
        made_by_now.push(by_made_[next]);
      IdleTime& eviction = schedule_.evictions[index(made_by_now.top())];
      made_by_now.pop();
      eviction.copied_after = std::min(step, eviction.held_until);
      pass(way, end_of(step), eviction, costs_.to_host, costs_.to_disk);
    }
    out_order_ = by_free_from_;
    sort_by(out_order_, &IdleTime::copied_after);
  }

  void leave_windows() {
    for (IdleTime& eviction : schedule_.evictions)
      eviction.held_until = eviction.copied_after = eviction.free_from() - 1;
    if (all_in_host_) copy_early();
    Way way;
    for (const std::int32_t i : out_order_) {
      IdleTime& eviction = schedule_.evictions[index(i)];
      const double done = out_done_[index(i)] =
          pass(way, end_of(eviction.copied_after), eviction, costs_.to_host, costs_.to_disk);
      if (eviction.heir != net::none) continue;
      const std::int64_t size = bytes(eviction);
      for (std::int32_t t = eviction.used + 1; t < eviction.back_at && begin_[index(t)] < done; ++t) {
        if (schedule_.memory[index(t)] + size > budget_) break;
        schedule_.memory[index(t)] += size;
        eviction.held_until = t;
      }
    }
  }

  void return_windows() {
    std::vector<double> latest(schedule_.evictions.size());  // start of the copy that is just in time
    double next_start = std::numeric_limits<double>::max();
    for (std::size_t i = in_order_.size(); i-- > 0;) {
      const IdleTime& eviction = schedule_.evictions[index(in_order_[i])];
      const double needed = std::min(begin_[index(eviction.needed)], next_start);
      next_start = latest[index(in_order_[i])] = needed - seconds_in(eviction);
    }
    Way way;
    for (const std::int32_t i : in_order_) {
      IdleTime& eviction = schedule_.evictions[index(i)];
      const std::int64_t size = bytes(eviction);
      // Half of the copy's own time as a reserve against what the estimate leaves out.
      const double aim = latest[index(i)] - 0.5 * seconds_in(eviction);
      const double earliest = std::max({way.link, aim, eviction.first ? out_done_[index(i)] : 0.0});
      if (options_.prefetch != Prefetch::at_use)
        while (eviction.back_at - 1 > std::max(eviction.used, eviction.held_until) &&
               end_of(eviction.back_at - 1) > earliest &&
               schedule_.memory[index(eviction.back_at - 1)] + size <= budget_) {
          --eviction.back_at;
          schedule_.memory[index(eviction.back_at)] += size;
        }
      pass(way, std::max(end_of(eviction.back_at - 1), eviction.first ? out_done_[index(i)] : 0.0), eviction,
           costs_.to_device, costs_.from_disk);
    }
  }

  double seconds_in(const IdleTime& eviction) const {
    const auto size = static_cast<double>(bytes(eviction));
    double seconds = size / costs_.to_device.busy;
    if (schedule_.on_disk[index(eviction.life)]) seconds = std::max(seconds, size / costs_.from_disk.busy);
    return seconds + costs_.copy_seconds;
  }

  // The time line with its stalls; sets begin_, end_ and seconds.
  void run() {
    std::vector<std::int32_t> by_held_until(schedule_.evictions.size()), by_back_at = in_order_;
    std::iota(by_held_until.begin(), by_held_until.end(), 0);
    sort_by(by_held_until, &IdleTime::held_until);
    sort_by(by_back_at, &IdleTime::back_at);
    const auto& all = schedule_.evictions;
    std::size_t out = 0, place = 0, in = 0, need = 0;
    Way out_way, in_way;
    ExchangeLane exchanges(facts_);
    double now = schedule_.moved_bytes = 0;
    const auto leave = [&](std::int32_t step) {
      for (; out < out_order_.size() && all[index(out_order_[out])].copied_after == step; ++out) {
        const IdleTime& eviction = all[index(out_order_[out])];
        schedule_.moved_bytes += static_cast<double>(bytes(eviction));
        out_done_[index(out_order_[out])] = pass(out_way, now, eviction, costs_.to_host, costs_.to_disk);
      }
    };
    leave(-1);
    for (std::int32_t t = 0; t < steps_; ++t) {
      double start = exchanges.begin(schedule_.sequence.steps[index(t)].node, now);
      for (; place < by_held_until.size() && all[index(by_held_until[place])].held_until < t; ++place) {
        IdleTime& eviction = schedule_.evictions[index(by_held_until[place])];
        eviction.waited = 0;
        if (eviction.first && eviction.held_until + 1 < eviction.back_at)
          wait(out_done_[index(by_held_until[place])], eviction, start);
      }
      for (; in < by_back_at.size() && all[index(by_back_at[in])].back_at == t; ++in) {
        const IdleTime& eviction = all[index(by_back_at[in])];
        const double from = std::max(now, eviction.first ? out_done_[index(by_back_at[in])] : 0.0);
        in_done_[index(by_back_at[in])] = pass(in_way, from, eviction, costs_.to_device, costs_.from_disk);
        schedule_.moved_bytes += static_cast<double>(bytes(eviction));
      }
      for (; need < in_order_.size() && all[index(in_order_[need])].needed == t; ++need)
        wait(in_done_[index(in_order_[need])], schedule_.evictions[index(in_order_[need])], start);
      begin_[index(t)] = start;
      end_[index(t)] = now = start + duration(t);
      leave(t);
    }
    begin_[index(steps_)] = now;
    schedule_.seconds = std::max(now, out_way.link) + schedule_.moved_bytes * costs_.interference;
  }

  static void wait(double until, IdleTime& eviction, double& start) {
    if (until <= start) return;
    eviction.waited += until - start;
    start = until;
  }

  const GraphFacts& facts_;
  const ScheduleOptions& options_;
  const CostModel& costs_;
  Schedule& schedule_;
  std::int32_t steps_;
  std::int64_t budget_;
  std::vector<double> begin_, end_;                   // of the steps
  std::vector<std::int32_t> by_free_from_, by_made_;  // evictions with a copy out
  std::vector<std::int32_t> out_order_, in_order_;    // of the copies
  bool all_in_host_ = false;  // together, at any time: then copies out may start whenever they want
  std::vector<double> out_done_, in_done_;
};

}  // namespace

Schedule schedule(const GraphFacts& facts, Sequence sequence, const std::vector<float>& bias,
                  const ScheduleOptions& options) {
  Schedule result;
  result.sequence = std::move(sequence);
  Scheduler scheduler(facts, options, result);
  if (scheduler.is_too_long()) return result;
  scheduler.choose(bias);
  if (!scheduler.is_too_long()) scheduler.finish(false);
  return result;
}

void finish_schedule(const GraphFacts& facts, const ScheduleOptions& options, bool fixed_returns,
                     Schedule& schedule) {
  Scheduler(facts, options, schedule).finish(fixed_returns);
}

bool choose_tiers(const GraphFacts& facts, Schedule& schedule) {
  const Budgets& budgets = facts.request->budgets;
  schedule.on_disk.assign(schedule.sequence.lives.size(), false);
  const auto bytes_of = [&](const IdleTime& eviction) {
    return facts.values[index(schedule.sequence.lives[index(eviction.life)].value)].bytes;
  };
  struct Away {
    std::int32_t life, from, to;
    std::int64_t bytes;
  };
  std::vector<Away> away;
  for (const IdleTime& eviction : schedule.evictions) {
    if (facts.values[index(schedule.sequence.lives[index(eviction.life)].value)].streams) continue;
    if (eviction.first)
      away.push_back({eviction.life, eviction.free_from() - 1, eviction.needed, bytes_of(eviction)});
    away.back().to = eviction.needed;
  }
  std::int64_t total = 0;
  for (const Away& life : away) total += life.bytes;
  std::int64_t host = budgets.host;
  if (total <= host) return true;
  std::sort(away.begin(), away.end(), [](const Away& x, const Away& y) {
    return x.from != y.from ? x.from < y.from : x.life < y.life;
  });
  if (budgets.disk > 0) host = std::max<std::int64_t>(0, host - staging_bytes(host));
  std::int64_t held = 0, on_disk = 0, disk_peak = 0;
  std::vector<Away> inside;
  for (const Away& life : away) {
    std::erase_if(inside, [&](const Away& other) {
      if (other.to >= life.from) return false;
      (schedule.on_disk[index(other.life)] ? on_disk : held) -= other.bytes;
      return true;
    });
    inside.push_back(life);
    held += life.bytes;
    while (held > host) {
      Away* last = nullptr;
      for (Away& other : inside)
        if (!schedule.on_disk[index(other.life)] && (last == nullptr || other.to > last->to)) last = &other;
      schedule.on_disk[index(last->life)] = true;
      held -= last->bytes;
      on_disk += last->bytes;
    }
    disk_peak = std::max(disk_peak, on_disk);
  }
  if (disk_peak > budgets.disk)
    schedule.excess = std::max(schedule.excess, static_cast<double>(disk_peak - budgets.disk));
  // What the host pool cannot hold is too much there, where there is no disk to speak of.
  if (budgets.disk == 0) schedule.on_disk.assign(schedule.on_disk.size(), false);
  return false;
}

}  // namespace voxswap::swap
