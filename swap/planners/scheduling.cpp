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
        costs_(*facts.problem->costs),
        schedule_(schedule),
        steps_(static_cast<std::int32_t>(schedule.sequence.steps.size())),
        budget_(options.device_budget) {
    begin_.resize(index(steps_) + 1);
    time_line_without_stalls();
  }

  void choose(const std::vector<float>& bias) {
    schedule_.memory = memory_of(facts_, schedule_.sequence);
    if (*std::max_element(schedule_.memory.begin(), schedule_.memory.end()) <= budget_) return;
    if (facts_.problem->budgets.host == 0) {  // nothing can be evicted
      note_excess();
      return;
    }
    choose_evictions(facts_, begin_, bias, {budget_ - options_.reserve, options_.least_bytes}, schedule_);
    note_excess();
  }

  // Whether the nodes alone, or the copies in alone, take longer than most_seconds; sets seconds and excess
  // then.
  bool is_too_long() {
    if (options_.most_seconds == std::numeric_limits<double>::max()) return false;
    double in = 0;
    for (const Eviction& eviction : schedule_.evictions)
      if (eviction.next_use < steps_) in += static_cast<double>(bytes(eviction));
    if (std::max(begin_.back(), in / costs_.to_device.busy) <= options_.most_seconds) return false;
    schedule_.seconds = schedule_.excess = std::numeric_limits<double>::max();
    return true;
  }

  void finish(bool fixed_swap_ins) {
    std::sort(schedule_.evictions.begin(), schedule_.evictions.end(), [](auto& x, auto& y) {
      return std::tuple(x.live_range, x.last_use) < std::tuple(y.live_range, y.last_use);
    });
    std::int32_t before = net::none;
    for (Eviction& eviction : schedule_.evictions) {
      eviction.first = eviction.live_range != before && produced(eviction) >= 0;
      before = eviction.live_range;
    }
    all_in_host_ = choose_tiers(facts_, schedule_);
    schedule_.memory = memory_of(facts_, schedule_.sequence);
    RangeAdd freed(schedule_.memory.size());
    for (Eviction& eviction : schedule_.evictions) {
      if (!fixed_swap_ins) eviction.resident_from = eviction.next_use;
      freed.add(index(eviction.free_from()), index(eviction.resident_from), -bytes(eviction));
    }
    freed.apply(schedule_.memory);
    note_excess();
    order_copies();
    const std::vector<std::int64_t> without = schedule_.memory;
    double best = std::numeric_limits<double>::max();
    std::vector<Eviction> best_evictions;
    std::vector<std::int64_t> best_memory;
    for (int round = 0; round < 3; ++round) {
      schedule_.memory = without;
      if (!fixed_swap_ins)
        for (Eviction& eviction : schedule_.evictions) eviction.resident_from = eviction.next_use;
      plan_copies_out();
      if (!fixed_swap_ins) plan_copies_in();
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
  std::int64_t bytes(const Eviction& eviction) const {
    return value_of(facts_, schedule_.sequence, eviction).bytes;
  }
  std::int32_t produced(const Eviction& eviction) const {
    return schedule_.sequence.live_ranges[index(eviction.live_range)].produced;
  }
  double duration(std::int32_t step) const {
    return facts_.nodes[index(schedule_.sequence.steps[index(step)].node)].seconds;
  }
  double end_of(std::int32_t step) const { return step < 0 ? 0 : end_[index(step)]; }

  void time_line_without_stalls() {
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

  // A link copies one value at a time: values are copied in by next use, and out by the step from which their
  // memory is free, or as early as possible (copy_early).
  void order_copies() {
    by_free_from_.clear();
    in_order_.clear();
    for (std::size_t i = 0; i < schedule_.evictions.size(); ++i) {
      if (schedule_.evictions[i].first) by_free_from_.push_back(static_cast<std::int32_t>(i));
      if (schedule_.evictions[i].next_use < steps_) in_order_.push_back(static_cast<std::int32_t>(i));
    }
    sort_by(by_free_from_, &Eviction::free_from);
    out_order_ = by_produced_ = by_free_from_;
    sort_by(by_produced_, [&](const Eviction& eviction) { return produced(eviction); });
    sort_by(in_order_, &Eviction::next_use);
    out_done_.assign(schedule_.evictions.size(), 0);
    in_done_.assign(schedule_.evictions.size(), 0);
  }
  // Counting sort of indices of evictions by step.
  template <class StepOf>
  void sort_by(std::vector<std::int32_t>& evictions, StepOf step_of) const {
    sort_by_step(evictions, steps_,
                 [&](std::int32_t i) { return std::invoke(step_of, schedule_.evictions[index(i)]); });
  }

  // When a link and the disk behind it are free, in seconds.
  struct LinkTimes {
    double link = 0, disk = 0;
  };
  double transfer(LinkTimes& times, double from, const Eviction& eviction, const Link& link,
                  const Link& disk) const {
    const double start = std::max(from, times.link);
    const auto size = static_cast<double>(bytes(eviction));
    times.link = start + size / link.busy + costs_.copy_seconds;
    if (!schedule_.on_disk[index(eviction.live_range)]) return times.link;
    times.disk = std::max(start, times.disk) + size / disk.busy + costs_.disk_seconds;
    return times.link = std::max(times.link, times.disk);
  }

  // Copies out whenever the link is free: of the values produced so far, the one to be freed first.
  void copy_early() {
    const auto& all = schedule_.evictions;
    const auto later = [&](std::int32_t x, std::int32_t y) {
      const std::int32_t first = all[index(x)].free_from(), second = all[index(y)].free_from();
      return first != second ? first > second : x > y;
    };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(later)> produced_so_far(later);
    LinkTimes times;
    std::int32_t step = -1;
    for (std::size_t next = 0; next < by_produced_.size() || !produced_so_far.empty();) {
      if (produced_so_far.empty()) step = std::max(step, produced(all[index(by_produced_[next])]));
      while (step < steps_ - 1 && end_of(step) < times.link) ++step;
      for (; next < by_produced_.size() && produced(all[index(by_produced_[next])]) <= step; ++next)
        produced_so_far.push(by_produced_[next]);
      Eviction& eviction = schedule_.evictions[index(produced_so_far.top())];
      produced_so_far.pop();
      eviction.copied_out_after = std::min(step, eviction.resident_until);
      transfer(times, end_of(step), eviction, costs_.to_host, costs_.to_disk);
    }
    out_order_ = by_free_from_;
    sort_by(out_order_, &Eviction::copied_out_after);
  }

  void plan_copies_out() {
    for (Eviction& eviction : schedule_.evictions)
      eviction.resident_until = eviction.copied_out_after = eviction.free_from() - 1;
    if (all_in_host_) copy_early();
    LinkTimes times;
    for (const std::int32_t i : out_order_) {
      Eviction& eviction = schedule_.evictions[index(i)];
      const double done = out_done_[index(i)] =
          transfer(times, end_of(eviction.copied_out_after), eviction, costs_.to_host, costs_.to_disk);
      if (eviction.in_place_successor != net::none) continue;
      const std::int64_t size = bytes(eviction);
      for (std::int32_t t = eviction.last_use + 1; t < eviction.resident_from && begin_[index(t)] < done;
           ++t) {
        if (schedule_.memory[index(t)] + size > budget_) break;
        schedule_.memory[index(t)] += size;
        eviction.resident_until = t;
      }
    }
  }

  void plan_copies_in() {
    std::vector<double> latest(schedule_.evictions.size());  // start of a copy that ends just in time
    double next_start = std::numeric_limits<double>::max();
    for (std::size_t i = in_order_.size(); i-- > 0;) {
      const Eviction& eviction = schedule_.evictions[index(in_order_[i])];
      const double needed = std::min(begin_[index(eviction.next_use)], next_start);
      next_start = latest[index(in_order_[i])] = needed - seconds_in(eviction);
    }
    LinkTimes times;
    for (const std::int32_t i : in_order_) {
      Eviction& eviction = schedule_.evictions[index(i)];
      const std::int64_t size = bytes(eviction);
      // Start half a copy earlier, because the estimate is not exact.
      const double aim = latest[index(i)] - 0.5 * seconds_in(eviction);
      const double earliest = std::max({times.link, aim, eviction.first ? out_done_[index(i)] : 0.0});
      while (eviction.resident_from - 1 > std::max(eviction.last_use, eviction.resident_until) &&
             end_of(eviction.resident_from - 1) > earliest &&
             schedule_.memory[index(eviction.resident_from - 1)] + size <= budget_) {
        --eviction.resident_from;
        schedule_.memory[index(eviction.resident_from)] += size;
      }
      transfer(times,
               std::max(end_of(eviction.resident_from - 1), eviction.first ? out_done_[index(i)] : 0.0),
               eviction, costs_.to_device, costs_.from_disk);
    }
  }

  double seconds_in(const Eviction& eviction) const {
    const auto size = static_cast<double>(bytes(eviction));
    double seconds = size / costs_.to_device.busy;
    if (schedule_.on_disk[index(eviction.live_range)])
      seconds = std::max(seconds, size / costs_.from_disk.busy);
    return seconds + costs_.copy_seconds;
  }

  // Simulates the time line with stalls; sets begin_, end_ and seconds.
  void run() {
    std::vector<std::int32_t> by_resident_until(schedule_.evictions.size()), by_resident_from = in_order_;
    std::iota(by_resident_until.begin(), by_resident_until.end(), 0);
    sort_by(by_resident_until, &Eviction::resident_until);
    sort_by(by_resident_from, &Eviction::resident_from);
    const auto& all = schedule_.evictions;
    std::size_t out = 0, next_freed = 0, in = 0, next_needed = 0;
    LinkTimes out_times, in_times;
    ExchangeLane exchanges(facts_);
    double now = schedule_.moved_bytes = 0;
    const auto copy_out_after = [&](std::int32_t step) {
      for (; out < out_order_.size() && all[index(out_order_[out])].copied_out_after == step; ++out) {
        const Eviction& eviction = all[index(out_order_[out])];
        schedule_.moved_bytes += static_cast<double>(bytes(eviction));
        out_done_[index(out_order_[out])] =
            transfer(out_times, now, eviction, costs_.to_host, costs_.to_disk);
      }
    };
    copy_out_after(-1);
    for (std::int32_t t = 0; t < steps_; ++t) {
      double start = exchanges.begin(schedule_.sequence.steps[index(t)].node, now);
      for (; next_freed < by_resident_until.size() &&
             all[index(by_resident_until[next_freed])].resident_until < t;
           ++next_freed) {
        Eviction& eviction = schedule_.evictions[index(by_resident_until[next_freed])];
        eviction.stall_seconds = 0;
        if (eviction.first && eviction.resident_until + 1 < eviction.resident_from)
          wait(out_done_[index(by_resident_until[next_freed])], eviction, start);
      }
      for (; in < by_resident_from.size() && all[index(by_resident_from[in])].resident_from == t; ++in) {
        const Eviction& eviction = all[index(by_resident_from[in])];
        const double from = std::max(now, eviction.first ? out_done_[index(by_resident_from[in])] : 0.0);
        in_done_[index(by_resident_from[in])] =
            transfer(in_times, from, eviction, costs_.to_device, costs_.from_disk);
        schedule_.moved_bytes += static_cast<double>(bytes(eviction));
      }
      for (; next_needed < in_order_.size() && all[index(in_order_[next_needed])].next_use == t;
           ++next_needed)
        wait(in_done_[index(in_order_[next_needed])], schedule_.evictions[index(in_order_[next_needed])],
             start);
      begin_[index(t)] = start;
      end_[index(t)] = now = start + duration(t);
      copy_out_after(t);
    }
    begin_[index(steps_)] = now;
    schedule_.seconds = std::max(now, out_times.link) + schedule_.moved_bytes * costs_.interference;
  }

  static void wait(double until, Eviction& eviction, double& start) {
    if (until <= start) return;
    eviction.stall_seconds += until - start;
    start = until;
  }

  const GraphFacts& facts_;
  const ScheduleOptions& options_;
  const CostModel& costs_;
  Schedule& schedule_;
  std::int32_t steps_;
  std::int64_t budget_;
  std::vector<double> begin_, end_;                       // of the steps
  std::vector<std::int32_t> by_free_from_, by_produced_;  // evictions with a copy out
  std::vector<std::int32_t> out_order_, in_order_;        // of the copies
  bool all_in_host_ = false;  // the host pool holds all evicted values at once (choose_tiers)
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

void finish_schedule(const GraphFacts& facts, const ScheduleOptions& options, bool fixed_swap_ins,
                     Schedule& schedule) {
  Scheduler(facts, options, schedule).finish(fixed_swap_ins);
}

bool choose_tiers(const GraphFacts& facts, Schedule& schedule) {
  const Budgets& budgets = facts.problem->budgets;
  schedule.on_disk.assign(schedule.sequence.live_ranges.size(), false);
  const auto bytes_of = [&](const Eviction& eviction) {
    return value_of(facts, schedule.sequence, eviction).bytes;
  };
  struct Evicted {
    std::int32_t live_range, from, to;
    std::int64_t bytes;
  };
  std::vector<Evicted> evicted;
  for (const Eviction& eviction : schedule.evictions) {
    if (value_of(facts, schedule.sequence, eviction).streamed) continue;
    if (eviction.first)
      evicted.push_back(
          {eviction.live_range, eviction.free_from() - 1, eviction.next_use, bytes_of(eviction)});
    evicted.back().to = eviction.next_use;
  }
  std::int64_t total = 0;
  for (const Evicted& live_range : evicted) total += live_range.bytes;
  std::int64_t host = budgets.host;
  if (total <= host) return true;
  std::sort(evicted.begin(), evicted.end(), [](const Evicted& x, const Evicted& y) {
    return x.from != y.from ? x.from < y.from : x.live_range < y.live_range;
  });
  if (budgets.disk > 0) host = std::max<std::int64_t>(0, host - staging_bytes(host));
  std::int64_t in_host = 0, on_disk = 0, disk_peak = 0;
  std::vector<Evicted> inside;
  for (const Evicted& live_range : evicted) {
    std::erase_if(inside, [&](const Evicted& other) {
      if (other.to >= live_range.from) return false;
      (schedule.on_disk[index(other.live_range)] ? on_disk : in_host) -= other.bytes;
      return true;
    });
    inside.push_back(live_range);
    in_host += live_range.bytes;
    while (in_host > host) {
      Evicted* last = nullptr;
      for (Evicted& other : inside)
        if (!schedule.on_disk[index(other.live_range)] && (last == nullptr || other.to > last->to))
          last = &other;
      schedule.on_disk[index(last->live_range)] = true;
      in_host -= last->bytes;
      on_disk += last->bytes;
    }
    disk_peak = std::max(disk_peak, on_disk);
  }
  if (disk_peak > budgets.disk)
    schedule.excess = std::max(schedule.excess, static_cast<double>(disk_peak - budgets.disk));
  // Without a disk, the host pool is over its budget instead.
  if (budgets.disk == 0) schedule.on_disk.assign(schedule.on_disk.size(), false);
  return false;
}

}  // namespace voxswap::swap
