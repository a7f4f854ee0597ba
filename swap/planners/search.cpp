#include "swap/planners/search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/philox.h"
#include "swap/planners/choice.h"
#include "swap/planners/layout.h"
#include "swap/planners/planners.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

// Smaller is better: what is over the budgets counts before time.
struct Score {
  double excess = std::numeric_limits<double>::max(), seconds = 0;
  bool operator<(const Score& other) const {
    return excess != other.excess ? excess < other.excess : seconds < other.seconds;
  }
};

class Search {
 public:
  Search(const Digest& digest, const std::string& planner, const SearchOptions& options)
      : digest_(digest), planner_(planner), options_(options), random_(0x706c616e, 0) {
    schedule_options_.device_budget = digest.request->budgets.device;
    std::int64_t largest = 0;
    for (const DigestValue& value : digest.values)
      if (!value.persistent) largest = std::max(largest, value.bytes);
    schedule_options_.least_bytes = largest / 256;
    aim_ = digest.request->budgets.device;
  }

  Plan run() {
    start();
    if (best_score_.excess > 0) {  // everything counts when memory is scarce
      schedule_options_.least_bytes = 0;
      start();
    }
    if (options_.quick) return packed();
    improve_starts(effort);
    Plan plan = best_packed();
    // Where packing asks for less to be live, other choices may be the better ones.
    if (aim_ < digest_.request->budgets.device) {
      const Choice first = best_;
      const std::int64_t first_aim = aim_;
      best_score_ = score(best_);
      improve(effort / 2);
      Plan other = packed();
      if (better(other, plan)) {
        plan = std::move(other);
      } else {
        best_ = first;
        aim_ = first_aim;
      }
    }
    polish(plan);
    return plan;
  }

 private:
  Schedule schedule_of(const Choice& choice, std::int64_t budget) const {
    std::optional<Sequence> sequence = expand(digest_, choice.again, choice.alone);
    Schedule failed;
    failed.excess = std::numeric_limits<double>::max();
    if (!sequence) return failed;
    ScheduleOptions options = schedule_options_;
    options.device_budget = budget;
    return schedule(digest_, std::move(*sequence), choice.bias, options);
  }

  Score score(const Choice& choice) {
    const Schedule schedule = schedule_of(choice, aim_);
    left_ -= static_cast<std::int64_t>(digest_.nodes.size() + schedule.sequence.steps.size() +
                                       10 * schedule.stretches.size());
    // A little for what is moved even where it costs no time: it leads to choices that do save time.
    const CostModel& costs = *digest_.request->costs;
    const double moved = costs.to_host.busy > 0 ? schedule.moved_bytes / costs.to_host.busy : 0;
    return {schedule.excess, schedule.seconds + 0.02 * moved};
  }

  bool consider(const Choice& choice) {
    const Score found = score(choice);
    if (!(found < best_score_)) return false;
    best_score_ = found;
    best_ = choice;
    return true;
  }

  void start() {
    starts_.clear();
    movable_.clear();
    for (ValueId id = 0; index(id) < digest_.values.size(); ++id) {
      const DigestValue& value = digest_.values[index(id)];
      if (!value.persistent && value.bytes >= schedule_options_.least_bytes) movable_.push_back(id);
    }
    const auto bytes_of = [&](ValueId id) { return digest_.values[index(id)].bytes; };
    std::stable_sort(movable_.begin(), movable_.end(),
                     [&](ValueId a, ValueId b) { return bytes_of(a) > bytes_of(b); });
    bytes_up_to_.clear();
    for (const ValueId id : movable_)
      bytes_up_to_.push_back(bytes_of(id) + (bytes_up_to_.empty() ? 0 : bytes_up_to_.back()));
    const Choice nothing = keep_everything(digest_);
    best_ = nothing;
    begin_with(nothing);
    if (!options_.may_repeat) return;
    for (const std::int64_t least : {schedule_options_.least_bytes, 64 * schedule_options_.least_bytes})
      for (const bool costly : {false, true})
        for (const int chain : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
          Choice choice = nothing;
          repeat_in_chains(digest_, {chain, costly, least}, choice);
          begin_with(choice);
        }
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const Start& a, const Start& b) { return a.score < b.score; });
    const auto same = [](const Start& a, const Start& b) { return a.choice.again == b.choice.again; };
    starts_.erase(std::unique(starts_.begin(), starts_.end(), same), starts_.end());
  }

  void begin_with(const Choice& choice) {
    starts_.push_back({choice, score(choice)});
    if (!(starts_.back().score < best_score_)) return;
    best_score_ = starts_.back().score;
    best_ = choice;
  }

  // From the best starting points, then further from the best of what they led to. Leaves in `starts_` what
  // came of them, best first.
  void improve_starts(std::int64_t effort_to_spend) {
    constexpr std::size_t tried = 5;
    starts_.resize(std::min(tried, starts_.size()));
    const auto count = static_cast<std::int64_t>(starts_.size());
    for (Start& start : starts_) {
      best_ = start.choice;
      best_score_ = start.score;
      improve(effort_to_spend / (2 * count));
      start = {best_, best_score_};
    }
    const auto better = [](const Start& a, const Start& b) { return a.score < b.score; };
    std::stable_sort(starts_.begin(), starts_.end(), better);
    best_ = starts_.front().choice;
    best_score_ = starts_.front().score;
    improve(effort_to_spend / 2);
    starts_.insert(starts_.begin(), {best_, best_score_});
  }

  // What is the best choice by its schedule may lose when it is packed: so the next ones are packed too.
  Plan best_packed() {
    constexpr std::size_t tried = 4;
    starts_.resize(std::min(tried, starts_.size()));
    std::optional<Plan> best;
    Start chosen;
    std::int64_t aim = aim_;
    for (const Start& start : starts_) {
      best_ = start.choice;
      aim_ = digest_.request->budgets.device;
      Plan plan = packed();
      if (best && !better(plan, *best)) continue;
      best = std::move(plan);
      chosen = start;
      aim = aim_;
    }
    best_ = std::move(chosen.choice);
    best_score_ = chosen.score;
    aim_ = aim;
    return std::move(*best);
  }

  void improve(std::int64_t effort_to_spend) {
    left_ = effort_to_spend;
    improve_in_turn();
    improve_at_random();
  }

  // Every flag of every value, all of a value at once, and its weight; again as long as it helps.
  void improve_in_turn() {
    for (bool better = true; better && left_ > 0;) {
      better = false;
      for (std::size_t i = 0; i < movable_.size() && left_ > 0; ++i) {
        const DigestValue& value = digest_.values[index(movable_[i])];
        if (value.bytes < 16 * schedule_options_.least_bytes) break;
        if (options_.may_repeat && value.repeatable) {
          better |= try_all(value, false) || try_all(value, true);
          for (const bool alone : {false, true})
            for (const int depth : {0, 1, 2, 4}) better |= try_sources(movable_[i], depth, alone);
          better |= !value.cheap && try_alone(movable_[i]);
          for (std::size_t gap = 0; gap <= value.readers.size() && left_ > 0; ++gap)
            better |= try_flip(value, gap);
        }
        if (options_.may_swap)
          for (const float weight : {0.0F, 0.5F, 2.0F, 1.0F}) better |= try_weight(movable_[i], weight);
      }
    }
  }

  bool try_all(const DigestValue& value, bool flag) {
    Choice choice = best_;
    bool changed = false;
    for (std::size_t gap = 0; gap <= value.readers.size(); ++gap) {
      const std::size_t at = index(value.first_gap) + gap;
      changed |= choice.again[at] != flag;
      choice.again[at] = flag;
    }
    return changed && consider(choice);
  }
  bool try_sources(ValueId id, int depth, bool alone) {
    Choice choice = best_;
    repeat_with_sources(digest_, id, depth, alone, choice);
    return (choice.again != best_.again || choice.alone != best_.alone) && consider(choice);
  }
  bool try_alone(ValueId id) {
    Choice choice = best_;
    choice.alone[index(id)].flip();
    return consider(choice);
  }
  bool try_flip(const DigestValue& value, std::size_t gap) {
    Choice choice = best_;
    choice.again[index(value.first_gap) + gap].flip();
    return consider(choice);
  }
  bool try_weight(ValueId id, float weight) {
    if (best_.bias[index(id)] == weight) return false;
    Choice choice = best_;
    choice.bias[index(id)] = weight;
    return consider(choice);
  }

  // Late acceptance (Burke and Bykov 2017): a choice becomes the current one when it is no worse than the one
  // that was current some hundred rounds ago.
  void improve_at_random() {
    if (movable_.empty()) return;
    constexpr std::size_t memory = 100;
    std::vector<Score> history(memory, best_score_);
    Choice current = best_;
    Score current_score = best_score_;
    std::size_t last_success = 0;
    for (std::size_t round = 0; left_ > 0 && round - last_success < patience; ++round) {
      Choice choice = current;
      disturb(choice);
      const Score found = score(choice);
      Score& then = history[round % memory];
      if (!(then < found) || !(current_score < found)) {
        current = std::move(choice);
        current_score = found;
        if (found < best_score_) {
          best_score_ = found;
          best_ = current;
          last_success = round;
        }
      }
      then = current_score;
    }
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.word(draw_++) % n); }

  // Any value, or one of a few large ones: half of the time one drawn in proportion to its bytes.
  ValueId draw() {
    if (below(2) == 0) return movable_[below(movable_.size())];
    const std::int64_t at =
        static_cast<std::int64_t>(random_.word(draw_++) % static_cast<std::uint64_t>(bytes_up_to_.back()));
    const auto found = std::upper_bound(bytes_up_to_.begin(), bytes_up_to_.end(), at);
    return movable_[static_cast<std::size_t>(found - bytes_up_to_.begin())];
  }

  // One to three changes: a gap's flag, all flags of a value, or of its sources too, or a weight.
  void disturb(Choice& choice) {
    const std::size_t moves = 1 + below(3);
    for (std::size_t move = 0; move < moves; ++move) {
      const ValueId id = draw();
      const DigestValue& value = digest_.values[index(id)];
      const bool repeat = options_.may_repeat && value.repeatable && (!options_.may_swap || below(3) > 0);
      if (!repeat) {
        constexpr float weights[] = {0, 0.25F, 0.5F, 0.8F, 1, 1.25F, 2, 4};
        choice.bias[index(id)] = weights[below(8)];
        continue;
      }
      const std::size_t gap = below(value.readers.size() + 4);
      if (gap == value.readers.size() + 3) {
        choice.alone[index(id)].flip();
        continue;
      }
      if (gap == value.readers.size() + 2) {
        const auto depth = static_cast<int>(below(6));
        repeat_with_sources(digest_, id, depth, below(2) == 1, choice);
        continue;
      }
      if (gap <= value.readers.size()) {
        choice.again[index(value.first_gap) + gap].flip();
        continue;
      }
      const bool flag = below(2) == 1;
      for (std::size_t i = 0; i <= value.readers.size(); ++i) choice.again[index(value.first_gap) + i] = flag;
    }
  }

  // Packing may need more than the sum of what is live: then with less memory, and less again. Leaves `aim_`
  // at what is live in the plan.
  Plan packed() {
    const std::int64_t budget = digest_.request->budgets.device;
    const std::int64_t notch = (aim_ - digest_.persistent_bytes) / 80, from = aim_;
    Plan best;
    int good = 0;
    constexpr int attempts = 32;
    for (int attempt = 0; attempt < attempts && good < 2; ++attempt) {
      const std::int64_t aim = from - attempt * notch;
      const Schedule schedule = schedule_of(best_, aim);
      if (schedule.sequence.steps.empty() || (attempt > 0 && schedule.excess > 0)) break;
      Plan plan =
          lay_out(digest_, schedule, planner_, {.packing_effort = options_.quick ? 1e7 : usual_effort});
      const bool fits = schedule.excess == 0 && within(digest_.request->budgets, plan);
      if (fits ? good == 0 || plan.predicted_seconds < best.predicted_seconds
               : good == 0 && (best.instructions.empty() || plan.peak_bytes < best.peak_bytes)) {
        best = plan;
        if (fits) aim_ = aim;
      }
      good += fits;
      if (fits && aim == budget) break;
    }
    return best;
  }

  bool better(const Plan& plan, const Plan& than) const {
    const Budgets& budgets = digest_.request->budgets;
    if (!within(budgets, plan)) return false;
    return !within(budgets, than) || plan.predicted_seconds < than.predicted_seconds;
  }

  // The schedule's time is an estimate: the last changes are judged by plans that are laid out and simulated.
  void polish(Plan& plan) {
    const auto cost = static_cast<std::int64_t>(plan.instructions.size());
    double estimate = schedule_of(best_, aim_).seconds;
    int failures = 0;
    for (std::int64_t spent = 0; spent < polishing && failures < 300 && !movable_.empty();
         spent += cost / 10 + 1) {
      Choice choice = best_;
      disturb(choice);
      const Schedule schedule = schedule_of(choice, aim_);
      if (schedule.excess > 0 || schedule.seconds > 1.2 * estimate) continue;
      spent += cost;
      Plan other = lay_out(digest_, schedule, planner_, {.packing_effort = 5e6});
      if (!better(other, plan)) {
        ++failures;
        continue;
      }
      failures = 0;
      plan = std::move(other);
      best_ = std::move(choice);
      estimate = schedule.seconds;
    }
  }

  static constexpr std::int64_t polishing = 120'000;  // instructions that are laid out for the last changes
  static constexpr std::size_t patience = 3000;       // rounds without success
  // Steps and copies that are scheduled in all evaluations together: one or two seconds.
  static constexpr std::int64_t effort = 40'000'000;

  const Digest& digest_;
  std::string planner_;
  SearchOptions options_;
  ScheduleOptions schedule_options_;
  Philox random_;
  std::uint64_t draw_ = 0;
  std::int64_t aim_ = 0;                   // device memory that a schedule may use: the budget, or less
  std::int64_t left_ = 0;                  // of the effort
  std::vector<ValueId> movable_;           // what is large enough for a choice of its own, the largest first
  std::vector<std::int64_t> bytes_up_to_;  // of the movable values, this one included
  struct Start {
    Choice choice;
    Score score;
  };
  std::vector<Start> starts_;  // best first
  Choice best_;
  Score best_score_;
};

}  // namespace

Plan search_plan(const Digest& digest, const std::string& planner, const SearchOptions& options) {
  return Search(digest, planner, options).run();
}

}  // namespace voxswap
