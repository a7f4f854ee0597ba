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

#include "swap/planners/layout.h"
#include "swap/planners/planners.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

struct Knobs {
  std::int64_t threshold = 0, ahead = 1, groupby = 0;
};

class Tflms {
 public:
  explicit Tflms(const PlanRequest& request)
      : request_(request),
        digest_(request),
        sequence_(*expand(digest_, std::vector<bool>(index(digest_.gaps), false))),
        idle_(idle_stretches(digest_, sequence_, 0)) {
    std::vector<std::int64_t> value_level(digest_.values.size(), 0);
    for (const DigestNode& node : digest_.nodes) {
      std::int64_t level = 0;
      for (const ValueId value : node.reads) level = std::max(level, value_level[index(value)]);
      for (const ValueId value : node.makes) value_level[index(value)] = level + 1;
      levels_.push_back(level);
      deepest_ = std::max(deepest_, level);
    }
  }

  Plan run() {
    const TflmsOptions& given = request_.tflms;
    Knobs knobs;
    knobs.ahead = given.swapin_ahead.value_or(1);
    knobs.groupby = given.swapin_groupby.value_or(0);
    if (given.swapout_threshold) {
      knobs.threshold = *given.swapout_threshold;
    } else {
      knobs.threshold = largest(deepest_, 0, [&](std::int64_t level) {
        return fits({level, knobs.ahead, knobs.groupby});
      });
    }
    if (!given.swapin_ahead && waits_for_in()) knobs.ahead = 0;
    if (!given.swapin_ahead && !waits_for_in())
      knobs.ahead = largest(deepest_, 1, [&](std::int64_t ahead) {
        return fits({knobs.threshold, ahead, knobs.groupby});
      });
    if (!given.swapin_groupby)
      knobs.groupby = largest(deepest_, 0, [&](std::int64_t groupby) {
        return fits({knobs.threshold, knobs.ahead, groupby});
      });
    Plan plan = plan_with(knobs);
    // The sums fit; where packing does not, less is kept.
    for (int attempt = 0; !given.swapout_threshold && !within(request_.budgets, plan) && attempt < 20;
         ++attempt) {
      if (knobs.ahead > 1 && !given.swapin_ahead)
        knobs.ahead = 1;
      else if (knobs.threshold > 0)
        knobs.threshold -= std::max<std::int64_t>(knobs.threshold / 10, 1);
      plan = plan_with(knobs);
    }
    plan.remarks = format("swapout_threshold {}, swapin_ahead {}, swapin_groupby {}, sync_mode {}",
                          knobs.threshold, knobs.ahead, knobs.groupby, given.sync_mode);
    return plan;
  }

 private:
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
    return step < 0 ? 0 : levels_[index(sequence_.steps[index(step)].node)];
  }

  Schedule schedule_with(const Knobs& knobs) const {
    Schedule schedule;
    schedule.sequence = sequence_;
    std::int32_t life = none;
    std::int64_t group = 0;  // level of the far reader that the tensor last came back for
    std::size_t next = 0;
    for (std::int32_t id = 0; index(id) < sequence_.lives.size(); ++id) {
      const std::int64_t made = level_at(sequence_.lives[index(id)].made);
      bool far = false;
      life = id;
      for (; next < idle_.size() && idle_[next].life == life; ++next) {
        Stretch stretch = idle_[next];
        const std::int64_t level = level_at(stretch.b);
        if (level - made <= knobs.threshold) continue;
        if (far && level - group <= knobs.groupby) continue;
        far = true;
        group = level;
        if (!waits_for_in())
          while (stretch.s - 1 > stretch.a + 1 && level_at(stretch.s - 1) > level - knobs.ahead) --stretch.s;
        schedule.stretches.push_back(stretch);
      }
    }
    finish_schedule(digest_, {request_.budgets.device, Prefetch::at_use, 0}, true, schedule);
    return schedule;
  }

  Plan plan_with(const Knobs& knobs) const {
    return lay_out(digest_, schedule_with(knobs), "tflms", {true, waits_for_out(), 2e7});
  }
  bool fits(const Knobs& knobs) const { return schedule_with(knobs).excess == 0; }

  const PlanRequest& request_;
  Digest digest_;
  Sequence sequence_;
  std::vector<Stretch> idle_;
  std::vector<std::int64_t> levels_;  // per node
  std::int64_t deepest_ = 0;
};

}  // namespace

Plan plan_tflms(const PlanRequest& request) {
  return Tflms(request).run();
}

}  // namespace voxswap
