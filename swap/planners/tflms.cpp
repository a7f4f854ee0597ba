// IBM's TensorFlow Large Model Support, version 2 (Le et al., "Automatic GPU memory management for large
// neural models in TensorFlow", ISMM 2019): rules on topological levels, with a tuner that looks at memory
// alone.
//
// A tensor whose reader is more than `swapout_threshold` levels after its producer leaves once its near
// readers are done, and comes back for that reader, triggered by a node `swapin_ahead` levels earlier. Far
// readers less than `swapin_groupby` levels apart share one return. The tuner takes the largest threshold
// under which the step fits, then the earliest swap-in, then the widest groups. Unlike there, the plan is
// fixed: what fits here fits when it runs.
#include <algorithm>

#include "base/shape.h"
#include "base/text.h"
#include "swap/planners/layout.h"
#include "swap/planners/planner.h"
#include "swap/planners/range_max.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {
namespace {

struct Knobs {
  std::int64_t threshold = 0, ahead = 1, groupby = 0;
};

class Tflms {
 public:
  explicit Tflms(const PlanRequest& request)
      : request_(request),
        facts_(request),
        sequence_(*expand(facts_, keep_everything(facts_))),
        idle_(idle_times(sequence_)),
        memory_(memory_of(facts_, sequence_)) {
    std::vector<std::int64_t> value_level(facts_.values.size(), 0);
    for (const NodeFacts& node : facts_.nodes) {
      std::int64_t level = 0;
      for (const net::ValueId value : node.reads) level = std::max(level, value_level[index(value)]);
      for (const net::ValueId value : node.makes) value_level[index(value)] = level + 1;
      levels_.push_back(level);
      deepest_ = std::max(deepest_, level);
    }
  }

  // The sums may fit where packing does not: then the tuner is told of less memory, and less again.
  Plan run() {
    Plan best;
    const std::int64_t budget = request_.budgets.device;
    for (int percent = 100; percent > 60; percent -= 3) {
      aim_ = budget / 100 * percent;
      const Knobs knobs = tune();
      Plan plan = plan_with(knobs);
      plan.remarks = format("swapout_threshold {}, swapin_ahead {}, swapin_groupby {}, sync_mode {}",
                            knobs.threshold, knobs.ahead, knobs.groupby, request_.tflms.sync_mode);
      const bool good = within(request_.budgets, plan);
      if (best.instructions.empty() || good || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
      if (good || !fits(knobs)) break;
    }
    return best;
  }

 private:
  Knobs tune() const {
    const TflmsOptions& given = request_.tflms;
    Knobs knobs;
    knobs.ahead = given.swapin_ahead.value_or(waits_for_in() ? 0 : 1);
    knobs.groupby = given.swapin_groupby.value_or(0);
    knobs.threshold = given.swapout_threshold.value_or(0);
    const auto try_knob = [&](std::int64_t& knob, std::int64_t least) {
      Knobs attempt = knobs;
      std::int64_t& number = &knob == &knobs.threshold ? attempt.threshold
                             : &knob == &knobs.ahead   ? attempt.ahead
                                                       : attempt.groupby;
      knob = largest(deepest_, least, [&](std::int64_t candidate) {
        number = candidate;
        return fits(attempt);
      });
    };
    if (!given.swapout_threshold) try_knob(knobs.threshold, 0);
    if (!given.swapin_ahead && !waits_for_in()) try_knob(knobs.ahead, 1);
    if (!given.swapin_groupby) try_knob(knobs.groupby, 0);
    return knobs;
  }

  bool waits_for_out() const { return request_.tflms.sync_mode == 1 || request_.tflms.sync_mode == 3; }
  bool waits_for_in() const { return request_.tflms.sync_mode >= 2; }

  // The largest number from `most` down to `least` that fits, tried at no more than a few hundred places;
  // `least` if none does.
  template <class Fits>
  std::int64_t largest(std::int64_t most, std::int64_t least, Fits fits) const {
    const std::int64_t stride = std::max<std::int64_t>((most - least) / 300, 1);
    for (std::int64_t number = most; number > least; number -= stride)
      if (fits(number)) return number;
    return least;
  }

  std::int64_t level_at(std::int32_t step) const {
    if (index(step) == sequence_.steps.size()) return deepest_ + 1;
    return step < 0 ? 0 : levels_[index(sequence_.steps[index(step)].node)];
  }

  std::vector<IdleTime> evictions_with(const Knobs& knobs) const {
    std::vector<IdleTime> evictions;
    std::int32_t life = net::none;
    std::int64_t group = 0;  // level of the far reader that the tensor last came back for
    std::size_t next = 0;
    for (std::int32_t id = 0; index(id) < sequence_.lives.size(); ++id) {
      const std::int64_t made = level_at(sequence_.lives[index(id)].made);
      bool far = false;
      life = id;
      for (; next < idle_.size() && idle_[next].life == life; ++next) {
        IdleTime eviction = idle_[next];
        const std::int64_t level = level_at(eviction.needed);
        if (level - made <= knobs.threshold) continue;
        if (far && level - group <= knobs.groupby) continue;
        far = true;
        group = level;
        if (!waits_for_in() && index(eviction.needed) < sequence_.steps.size())
          while (eviction.back_at - 1 > eviction.used + 1 &&
                 level_at(eviction.back_at - 1) > level - knobs.ahead)
            --eviction.back_at;
        evictions.push_back(eviction);
      }
    }
    return evictions;
  }

  Schedule schedule_of(std::vector<IdleTime> evictions) const {
    Schedule schedule;
    schedule.sequence = sequence_;
    schedule.evictions = std::move(evictions);
    finish_schedule(facts_, {aim_, Prefetch::at_use, 0}, true, schedule);
    return schedule;
  }

  Plan plan_with(const Knobs& knobs) const {
    return lay_out(facts_, schedule_of(evictions_with(knobs)), "tflms", {true, waits_for_out(), 2e7});
  }

  // Most of what is tried is over the device's memory, which shows without a schedule.
  bool fits(const Knobs& knobs) const {
    std::vector<IdleTime> evictions = evictions_with(knobs);
    std::vector<std::int64_t> memory = memory_;
    RangeAdd away(memory.size());
    for (const IdleTime& eviction : evictions)
      away.add(index(eviction.free_from()), index(eviction.back_at),
               -facts_.values[index(sequence_.lives[index(eviction.life)].value)].bytes);
    away.apply(memory);
    if (*std::max_element(memory.begin(), memory.end()) > aim_) return false;
    return schedule_of(std::move(evictions)).excess == 0;
  }

  const PlanRequest& request_;
  GraphFacts facts_;
  Sequence sequence_;
  std::vector<IdleTime> idle_;
  std::vector<std::int64_t> memory_;  // per step, when nothing leaves
  std::vector<std::int64_t> levels_;  // per node
  std::int64_t deepest_ = 0;
  std::int64_t aim_ = 0;  // device memory that the tuner counts on
};

}  // namespace

Plan plan_tflms(const PlanRequest& request) {
  return Tflms(request).run();
}

}  // namespace voxswap::swap
