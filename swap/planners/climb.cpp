#include "swap/planners/climb.h"

#include <algorithm>

#include "base/index.h"
#include "swap/planners/layout.h"
#include "swap/planners/planners.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {
namespace {

constexpr std::size_t patience = 3000;  // rounds without success

}  // namespace

Schedule schedule_of(const Digest& digest, const Choice& choice, std::int64_t aim, std::int64_t least_bytes) {
  std::optional<Sequence> sequence = expand(digest, choice.again, choice.alone);
  Schedule failed;
  failed.excess = std::numeric_limits<double>::max();
  if (!sequence) return failed;
  ScheduleOptions options;
  options.device_budget = aim;
  options.least_bytes = least_bytes;
  return schedule(digest, std::move(*sequence), choice.bias, options);
}

Score score_of(const Digest& digest, const Schedule& schedule) {
  const CostModel& costs = *digest.request->costs;
  const double moved = costs.to_host.busy > 0 ? schedule.moved_bytes / costs.to_host.busy : 0;
  return {schedule.excess, schedule.seconds + 0.02 * moved};
}

Climb::Climb(const Digest& digest, const ClimbOptions& options, Choice start)
    : digest_(digest), options_(options), random_(0x706c616e, options.seed), best_(std::move(start)) {
  for (net::ValueId id = 0; index(id) < digest_.values.size(); ++id) {
    const DigestValue& value = digest_.values[index(id)];
    if (!value.persistent && value.bytes >= options_.least_bytes) movable_.push_back(id);
  }
  const auto bytes_of = [&](net::ValueId id) { return digest_.values[index(id)].bytes; };
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&](net::ValueId a, net::ValueId b) { return bytes_of(a) > bytes_of(b); });
  for (const net::ValueId id : movable_)
    bytes_up_to_.push_back(bytes_of(id) + (bytes_up_to_.empty() ? 0 : bytes_up_to_.back()));
  best_score_ = score(best_);
}

void Climb::improve(std::int64_t effort) {
  left_ = effort;
  improve_in_turn();
  improve_at_random();
}

Score Climb::score(const Choice& choice) {
  last_ = schedule_of(digest_, choice, options_.aim, options_.least_bytes);
  left_ -= static_cast<std::int64_t>(digest_.nodes.size() + last_.sequence.steps.size() +
                                     10 * last_.stretches.size());
  return score_of(digest_, last_);
}

bool Climb::consider(const Choice& choice) {
  const Score found = score(choice);
  if (!(found < best_score_)) return false;
  note_best(choice, found);
  return true;
}

// Of the last schedule; laid out where it is ahead of all plans found so far.
void Climb::note_best(const Choice& choice, const Score& score) {
  best_score_ = score;
  best_ = choice;
  if (last_.excess > 0 || (found_ && last_.seconds >= found_->plan.predicted_seconds)) return;
  Plan plan = lay_out(digest_, last_, options_.planner, {.packing_effort = quick_packing});
  left_ -= 30 * static_cast<std::int64_t>(plan.instructions.size());
  if (!within(digest_.request->budgets, plan)) return;
  if (!found_ || plan.predicted_seconds < found_->plan.predicted_seconds)
    found_ = Found{std::move(plan), best_};
}

void Climb::improve_in_turn() {
  for (bool better = true; better && left_ > 0;) {
    better = false;
    for (const net::ValueId id : movable_) {
      if (left_ <= 0 || digest_.values[index(id)].bytes < 16 * options_.least_bytes) break;
      better |= improve_value(id);
    }
  }
}

bool Climb::improve_value(net::ValueId id) {
  const DigestValue& value = digest_.values[index(id)];
  bool better = false;
  if (options_.may_repeat && value.repeatable) {
    better |= try_all(value, false) || try_all(value, true);
    for (const bool alone : {false, true})
      for (const int depth : {0, 1, 2, 4}) better |= try_sources(id, depth, alone);
    better |= !value.cheap && try_alone(id);
    for (std::size_t gap = 0; gap <= value.readers.size() && left_ > 0; ++gap) better |= try_flip(value, gap);
  }
  if (options_.may_swap)
    for (const float weight : {0.0F, 0.5F, 2.0F, 1.0F}) better |= try_weight(id, weight);
  return better;
}

bool Climb::try_all(const DigestValue& value, bool flag) {
  Choice choice = best_;
  bool changed = false;
  for (std::size_t gap = 0; gap <= value.readers.size(); ++gap) {
    const std::size_t at = index(value.first_gap) + gap;
    changed |= choice.again[at] != flag;
    choice.again[at] = flag;
  }
  return changed && consider(choice);
}

bool Climb::try_sources(net::ValueId id, int depth, bool alone) {
  Choice choice = best_;
  repeat_with_sources(digest_, id, depth, alone, choice);
  return (choice.again != best_.again || choice.alone != best_.alone) && consider(choice);
}

bool Climb::try_alone(net::ValueId id) {
  Choice choice = best_;
  choice.alone[index(id)].flip();
  return consider(choice);
}

bool Climb::try_flip(const DigestValue& value, std::size_t gap) {
  Choice choice = best_;
  choice.again[index(value.first_gap) + gap].flip();
  return consider(choice);
}

bool Climb::try_weight(net::ValueId id, float weight) {
  if (best_.bias[index(id)] == weight) return false;
  Choice choice = best_;
  choice.bias[index(id)] = weight;
  return consider(choice);
}

// Late acceptance (Burke and Bykov 2017): a choice becomes the current one when it is no worse than the one
// that was current some hundred rounds ago.
void Climb::improve_at_random() {
  if (movable_.empty()) return;
  constexpr std::size_t memory = 100;
  std::vector<Score> history(memory, best_score_);
  Choice current = best_;
  Score current_score = best_score_;
  std::size_t last_success = 0;
  for (std::size_t round = 0; left_ > 0 && round - last_success < patience; ++round) {
    Choice choice = disturbed(current);
    const Score found = score(choice);
    Score& then = history[round % memory];
    if (!(then < found) || !(current_score < found)) {
      current = std::move(choice);
      current_score = found;
      if (found < best_score_) {
        note_best(current, found);
        last_success = round;
      }
    }
    then = current_score;
  }
}

std::size_t Climb::below(std::size_t n) {
  return static_cast<std::size_t>(random_.word(draw_++) % n);
}

// Any value, or one of a few large ones: half of the time one drawn in proportion to its bytes.
net::ValueId Climb::draw() {
  if (below(2) == 0) return movable_[below(movable_.size())];
  const std::int64_t at =
      static_cast<std::int64_t>(random_.word(draw_++) % static_cast<std::uint64_t>(bytes_up_to_.back()));
  const auto found = std::upper_bound(bytes_up_to_.begin(), bytes_up_to_.end(), at);
  return movable_[static_cast<std::size_t>(found - bytes_up_to_.begin())];
}

Choice Climb::disturbed(Choice choice) {
  const std::size_t changes = 1 + below(3);
  for (std::size_t i = 0; i < changes; ++i) disturb_once(choice);
  return choice;
}

// A gap's flag, all flags of a value, or of its sources too, or a weight.
void Climb::disturb_once(Choice& choice) {
  const net::ValueId id = draw();
  const DigestValue& value = digest_.values[index(id)];
  const bool repeat = options_.may_repeat && value.repeatable && (!options_.may_swap || below(3) > 0);
  if (!repeat) {
    constexpr float weights[] = {0, 0.25F, 0.5F, 0.8F, 1, 1.25F, 2, 4};
    choice.bias[index(id)] = weights[below(8)];
    return;
  }
  const std::size_t gaps = value.readers.size() + 1, drawn = below(gaps + 3);
  if (drawn < gaps) {
    choice.again[index(value.first_gap) + drawn].flip();
  } else if (drawn == gaps) {
    const bool flag = below(2) == 1;
    for (std::size_t i = 0; i < gaps; ++i) choice.again[index(value.first_gap) + i] = flag;
  } else if (drawn == gaps + 1) {
    const auto depth = static_cast<int>(below(6));
    repeat_with_sources(digest_, id, depth, below(2) == 1, choice);
  } else {
    choice.alone[index(id)].flip();
  }
}

}  // namespace voxswap::swap
