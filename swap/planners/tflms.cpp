// IBM's TensorFlow Large Model Support, version 2 (Le et al., "Automatic GPU memory management for large
// neural models in TensorFlow", ISMM 2019): rules on topological levels, with a tuner that looks at memory
// alone.
//
// A tensor with a reader more than `swapout_threshold` levels after its producer is swapped out after its
// near readers and swapped in for the far one, triggered by a node `swapin_ahead` levels earlier. Far readers
// less than `swapin_groupby` levels apart share one swap-in. The tuner chooses the largest threshold with
// which the step fits, then the earliest swap-in, then the widest groups. Unlike the original, the plan is
// fixed before the step runs.
#include <algorithm>

#include "base/shape.h"
#include "base/text.h"
#include "swap/planners/layout.h"
#include "swap/planners/planner.h"
#include "swap/planners/range_max.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {
namespace {

struct Parameters {
  std::int64_t threshold = 0, ahead = 1, groupby = 0;
};

class Tflms {
 public:
  explicit Tflms(const StepProblem& problem)
      : problem_(problem),
        facts_(problem),
        sequence_(*expand(facts_, keep_everything(facts_))),
        candidates_(eviction_candidates(sequence_)),
        memory_(memory_of(facts_, sequence_)) {
    std::vector<std::int64_t> value_level(facts_.values.size(), 0);
    for (const NodeFacts& node : facts_.nodes) {
      std::int64_t level = 0;
      for (const net::ValueId value : node.reads) level = std::max(level, value_level[index(value)]);
      for (const net::ValueId value : node.writes) value_level[index(value)] = level + 1;
      levels_.push_back(level);
      deepest_ = std::max(deepest_, level);
    }
  }

  // The sum of live values may fit although packing does not: then the tuner gets less and less memory.
  Plan run() {
    Plan best;
    const std::int64_t budget = problem_.budgets.device;
    for (int percent = 100; percent > 60; percent -= 3) {
      aim_ = budget / 100 * percent;
      const Parameters parameters = tune();
      Plan plan = plan_with(parameters);
      plan.remarks =
          format("swapout_threshold {}, swapin_ahead {}, swapin_groupby {}, sync_mode {}",
                 parameters.threshold, parameters.ahead, parameters.groupby, problem_.tflms.sync_mode);
      const bool good = within(problem_.budgets, plan);
      if (best.instructions.empty() || good || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
      if (good || !fits(parameters)) break;
    }
    return best;
  }

 private:
  Parameters tune() const {
    const TflmsOptions& given = problem_.tflms;
    Parameters parameters;
    parameters.ahead = given.swapin_ahead.value_or(waits_for_in() ? 0 : 1);
    parameters.groupby = given.swapin_groupby.value_or(0);
    parameters.threshold = given.swapout_threshold.value_or(0);
    const auto tune_one = [&](std::int64_t& parameter, std::int64_t least) {
      Parameters attempt = parameters;
      std::int64_t& number = &parameter == &parameters.threshold ? attempt.threshold
                             : &parameter == &parameters.ahead   ? attempt.ahead
                                                                 : attempt.groupby;
      parameter = largest(deepest_, least, [&](std::int64_t candidate) {
        number = candidate;
        return fits(attempt);
      });
    };
    if (!given.swapout_threshold) tune_one(parameters.threshold, 0);
    if (!given.swapin_ahead && !waits_for_in()) tune_one(parameters.ahead, 1);
    if (!given.swapin_groupby) tune_one(parameters.groupby, 0);
    return parameters;
  }

  bool waits_for_out() const { return problem_.tflms.sync_mode == 1 || problem_.tflms.sync_mode == 3; }
  bool waits_for_in() const { return problem_.tflms.sync_mode >= 2; }

  // The largest number from `most` down to `least` that fits, of a few hundred that are tried; `least` if
  // none does.
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

  std::vector<Eviction> evictions_with(const Parameters& parameters) const {
    std::vector<Eviction> evictions;
    std::int64_t group = 0;  // level of the far reader of the last swap-in
    std::size_t next = 0;
    for (std::int32_t id = 0; index(id) < sequence_.live_ranges.size(); ++id) {
      const std::int64_t produced = level_at(sequence_.live_ranges[index(id)].produced);
      bool far = false;
      for (; next < candidates_.size() && candidates_[next].live_range == id; ++next) {
        Eviction eviction = candidates_[next];
        const std::int64_t level = level_at(eviction.next_use);
        if (level - produced <= parameters.threshold) continue;
        if (far && level - group <= parameters.groupby) continue;
        far = true;
        group = level;
        if (!waits_for_in() && index(eviction.next_use) < sequence_.steps.size())
          while (eviction.resident_from - 1 > eviction.last_use + 1 &&
                 level_at(eviction.resident_from - 1) > level - parameters.ahead)
            --eviction.resident_from;
        evictions.push_back(eviction);
      }
    }
    return evictions;
  }

  Schedule schedule_of(std::vector<Eviction> evictions) const {
    Schedule schedule;
    schedule.sequence = sequence_;
    schedule.evictions = std::move(evictions);
    finish_schedule(facts_, {.device_budget = aim_}, true, schedule);
    return schedule;
  }

  Plan plan_with(const Parameters& parameters) const {
    return lay_out(facts_, schedule_of(evictions_with(parameters)), "tflms", {true, waits_for_out(), 2e7});
  }

  // Checks the memory first: most attempts exceed it, and then need no schedule.
  bool fits(const Parameters& parameters) const {
    std::vector<Eviction> evictions = evictions_with(parameters);
    std::vector<std::int64_t> memory = memory_;
    RangeAdd freed(memory.size());
    for (const Eviction& eviction : evictions)
      freed.add(index(eviction.free_from()), index(eviction.resident_from),
                -value_of(facts_, sequence_, eviction).bytes);
    freed.apply(memory);
    if (*std::max_element(memory.begin(), memory.end()) > aim_) return false;
    return schedule_of(std::move(evictions)).excess == 0;
  }

  const StepProblem& problem_;
  GraphFacts facts_;
  Sequence sequence_;
  std::vector<Eviction> candidates_;
  std::vector<std::int64_t> memory_;  // per step, without evictions
  std::vector<std::int64_t> levels_;  // per node
  std::int64_t deepest_ = 0;
  std::int64_t aim_ = 0;  // device memory that the tuner may use
};

}  // namespace

Plan plan_tflms(const StepProblem& problem, bool /*quick*/) {
  return Tflms(problem).run();
}

}  // namespace voxswap::swap
