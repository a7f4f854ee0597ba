#include <algorithm>

#include "base/shape.h"
#include "swap/planners/layout.h"
#include "swap/planners/planner.h"
#include "swap/planners/scheduling.h"
#include "swap/planners/search.h"
#include "swap/planners/spare_memory.h"

namespace voxswap::swap {
namespace {

constexpr std::size_t patience = 3000;  // rounds without success

}  // namespace

Schedule schedule_of(const GraphFacts& facts, const Decisions& choice, std::int64_t aim,
                     std::int64_t least_bytes, double most_seconds) {
  std::optional<Sequence> sequence = expand(facts, choice);
  Schedule failed;
  failed.excess = std::numeric_limits<double>::max();
  if (!sequence) return failed;
  ScheduleOptions options;
  options.device_budget = aim;
  options.least_bytes = least_bytes;
  options.most_seconds = most_seconds;
  options.reserve = static_cast<std::int64_t>(
      choice.reserve * static_cast<double>(std::max<std::int64_t>(0, aim - facts.persistent_bytes)));
  return schedule(facts, std::move(*sequence), choice.bias, options);
}

Score score_of(const GraphFacts& facts, const Schedule& schedule) {
  const CostModel& costs = *facts.request->costs;
  const double moved = costs.to_host.busy > 0 ? schedule.moved_bytes / costs.to_host.busy : 0;
  return {schedule.excess, schedule.seconds + 0.02 * moved};
}

HillClimb::HillClimb(const GraphFacts& facts, const HillClimbOptions& options, Decisions start)
    : facts_(facts), options_(options), random_(0x706c616e, options.seed), best_(std::move(start)) {
  for (std::int32_t id = 0; index(id) < facts_.volumes.size(); ++id) {
    const VolumeFacts& volume = facts_.volumes[index(id)];
    if (!facts_.values[index(volume.pieces.front())].persistent && volume.bytes >= options_.least_volume)
      movable_.push_back(id);
  }
  const auto bytes_of = [&](std::int32_t id) { return facts_.volumes[index(id)].bytes; };
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&](std::int32_t a, std::int32_t b) { return bytes_of(a) > bytes_of(b); });
  for (const std::int32_t id : movable_)
    bytes_up_to_.push_back(bytes_of(id) + (bytes_up_to_.empty() ? 0 : bytes_up_to_.back()));
  rests_.resize(facts_.volumes.size());
  best_score_ = score(best_);
  best_schedule_ = last_;
}

void HillClimb::improve(std::int64_t effort) {
  left_ = effort;
  if (facts_.in_pieces) improve_what_takes_longest();
  improve_in_turn();
  improve_at_random();
  if (!is_laid_out_ && best_score_.excess == 0) {
    score(best_);
    lay_out_best();
  }
}

bool HillClimb::is_done() const {
  return left_ <= 0 || (found_ && found_->plan.predicted_seconds <= options_.good_seconds);
}

// Of steps in pieces, what is seen to be worse than `at_most` early on is not worked out.
Score HillClimb::score(const Decisions& choice, const Score& at_most) {
  const bool limited = facts_.in_pieces && at_most.excess == 0;
  last_ = schedule_of(facts_, choice, options_.aim, options_.least_bytes,
                      limited ? at_most.seconds : std::numeric_limits<double>::max());
  left_ -= static_cast<std::int64_t>(facts_.nodes.size() + last_.sequence.steps.size() +
                                     10 * last_.evictions.size());
  return score_of(facts_, last_);
}

bool HillClimb::consider(const Decisions& choice) {
  const Score found = score(choice, best_score_);
  if (!(found < best_score_)) return false;
  note_best(choice, found);
  return true;
}

// Of the last schedule; laid out where it is well ahead of the one that was laid out last: to pack the places
// of every little better one would take longer than to find them.
void HillClimb::note_best(const Decisions& choice, const Score& score) {
  best_score_ = score;
  best_ = choice;
  if (facts_.in_pieces) best_schedule_ = last_;
  is_laid_out_ = false;
  constexpr double well_ahead = 0.004;
  if (last_.excess == 0 && last_.seconds < (1 - well_ahead) * laid_out_seconds_) lay_out_best();
}

// Thousands of places take as long to pack as many choices to judge: where that came to nothing, it waits
// until the search is over.
void HillClimb::lay_out_best() {
  constexpr int in_vain = 2;
  if (facts_.in_pieces && unpackable_ >= in_vain) return;
  is_laid_out_ = true;
  laid_out_seconds_ = last_.seconds;
  if (found_ && last_.seconds >= found_->plan.predicted_seconds) return;
  Plan plan = lay_out(facts_, last_, options_.planner, {.packing_effort = quick_packing});
  left_ -= 30 * static_cast<std::int64_t>(plan.instructions.size());
  unpackable_ = within(facts_.request->budgets, plan) ? 0 : unpackable_ + 1;
  if (unpackable_ > 0) return;
  if (!found_ || plan.predicted_seconds < found_->plan.predicted_seconds)
    found_ = Found{std::move(plan), best_};
}

// A few changes each of what the best schedule spends most time on: steps in pieces have more volumes, and
// each choice takes longer to judge, than all of them could be tried from every starting point.
void HillClimb::improve_what_takes_longest() {
  constexpr std::size_t most = 16;
  constexpr double worth_another_round = 0.995;
  double before = std::numeric_limits<double>::max();
  while (!is_done() && best_score_.seconds < worth_another_round * before) {
    before = best_score_.seconds;
    const std::vector<std::int32_t> costly = costliest_volumes(facts_, best_schedule_);
    for (std::size_t i = 0; i < std::min(most, costly.size()) && !is_done(); ++i) improve_costly(costly[i]);
    use_free_memory();
    try_reserves();
    try_windows();
  }
}

void HillClimb::improve_costly(std::int32_t id) {
  const VolumeFacts& volume = facts_.volumes[index(id)];
  if (!options_.may_repeat || !volume.repeatable) return;
  if (try_sources(id, 0, true) || try_sources(id, 1, true) || try_all(volume, false)) return;
  if (try_alone(volume)) return;
  for (std::size_t gap = 0; gap < volume.gaps.size(); ++gap) try_flip(volume, gap);
}

// A change that did not help is tried again after as many rounds as it was in vain, and once more when
// nothing else helps.
void HillClimb::improve_in_turn() {
  while (!is_done()) {
    const std::size_t rested = rested_;
    bool better = facts_.in_pieces && (use_free_memory() | try_reserves() | try_windows());
    for (const std::int32_t id : movable_) {
      if (is_done() || facts_.volumes[index(id)].bytes < 16 * options_.least_volume) break;
      better |= improve_volume(id);
    }
    ++round_;
    if (better) continue;
    if (rested_ == rested) return;
    std::fill(rests_.begin(), rests_.end(), Rests{});
  }
}

// What the best schedule leaves unused, or waits for.
bool HillClimb::use_free_memory() {
  bool better = false;
  for (const double share : {1.0, 0.97, 0.92, 0.85}) better |= try_room(share, nullptr);
  for (const double share : {1.0, 0.97, 0.92, 0.85}) better |= try_holding(share);
  for (const double share : {1.0, 0.5, 0.25, 0.1}) {
    const Decisions choice = recompute_awaited_copies(facts_, best_schedule_, best_, share);
    better |= choice.again != best_.again && consider(choice);
  }
  return better;
}

// Of the memory beside persistent values, `share` is filled.
bool HillClimb::try_room(double share, const VolumeFacts* volume) {
  const auto free = static_cast<double>(options_.aim - facts_.persistent_bytes);
  const auto budget = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
  const Decisions choice = keep_in_spare_memory(facts_, best_schedule_, best_, budget, volume);
  return (choice.again != best_.again || choice.alone != best_.alone) && consider(choice);
}

bool HillClimb::try_holding(double share) {
  const auto free = static_cast<double>(options_.aim - facts_.persistent_bytes);
  const auto budget = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
  const Decisions choice = hold_in_spare_memory(facts_, best_schedule_, best_, budget);
  return choice.held != best_.held && consider(choice);
}

bool HillClimb::try_reserves() {
  bool better = false;
  for (const double reserve : {0.0, 0.01, 0.02, 0.04, 0.08, 0.16}) {
    Decisions choice = best_;
    choice.reserve = reserve;
    better |= reserve != best_.reserve && consider(choice);
  }
  return better;
}

bool HillClimb::try_windows() {
  bool better = false;
  for (const net::NodeId window : {nodes_of_neighbours, 2 * nodes_of_neighbours, 4 * nodes_of_neighbours}) {
    Decisions choice = best_;
    choice.window = window;
    better |= window != best_.window && consider(choice);
  }
  return better;
}

bool HillClimb::improve_volume(std::int32_t id) {
  const VolumeFacts& volume = facts_.volumes[index(id)];
  bool better = false;
  for (std::size_t kind = 0; kind < kinds_of_changes && !is_done(); ++kind) {
    Rest& rest = rests_[index(id)][kind];
    if (rest.until > round_) {
      ++rested_;
      continue;
    }
    const bool helped = try_change(static_cast<Change>(kind), id, volume);
    rest.in_vain = helped ? 0 : rest.in_vain + 1;
    rest.until = round_ + 1 + rest.in_vain;
    better |= helped;
  }
  if (better && facts_.in_pieces) use_free_memory();
  return better;
}

bool HillClimb::try_change(Change change, std::int32_t id, const VolumeFacts& volume) {
  const bool repeats = options_.may_repeat && volume.repeatable, in_pieces = volume.pieces.size() > 1;
  bool better = false;
  switch (change) {
    case Change::all:
      return repeats && (try_all(volume, false) || try_all(volume, true));
    case Change::sources:
    case Change::sources_alone:
      for (const int depth : {0, 1, 2, 4})
        better |= repeats && try_sources(id, depth, change == Change::sources_alone);
      return better;
    case Change::alone:
      return repeats && !volume.cheap && try_alone(volume);
    case Change::flips:
      for (std::size_t gap = 0; repeats && gap < volume.gaps.size() && left_ > 0; ++gap)
        better |= try_flip(volume, gap);
      return better;
    case Change::room:
      return repeats && in_pieces && try_room(1, &volume);
    case Change::halves:
      return repeats && in_pieces && volume.bytes >= 64 * options_.least_volume && try_halves(volume);
    case Change::weights:
      for (const float weight : {0.0F, 0.5F, 2.0F, 1.0F})
        better |= options_.may_swap && try_weight(volume, weight);
      return better;
  }
  return false;
}

bool HillClimb::try_all(const VolumeFacts& volume, bool again) {
  Decisions choice = best_;
  for (std::size_t gap = 0; gap < volume.gaps.size(); ++gap) set_gap(volume, gap, again, {}, choice);
  return choice.again != best_.again && consider(choice);
}

bool HillClimb::try_sources(std::int32_t id, int depth, bool alone) {
  Decisions choice = best_;
  repeat_with_sources(facts_, id, depth, alone, choice);
  return (choice.again != best_.again || choice.alone != best_.alone) && consider(choice);
}

bool HillClimb::try_alone(const VolumeFacts& volume) {
  Decisions choice = best_;
  const bool alone = !choice.alone[index(volume.pieces.front())];
  for (const net::ValueId id : volume.pieces) choice.alone[index(id)] = alone;
  return consider(choice);
}

bool HillClimb::try_flip(const VolumeFacts& volume, std::size_t gap) {
  Decisions choice = best_;
  set_gap(volume, gap, !choice.again[index(volume.gaps[gap].front())], {}, choice);
  return consider(choice);
}

// Of every gap's flags, those of the first half of the pieces and of the others.
bool HillClimb::try_halves(const VolumeFacts& volume) {
  bool better = false;
  const std::size_t half = volume.pieces.size() / 2;
  for (std::size_t gap = 0; gap < volume.gaps.size() && left_ > 0; ++gap)
    for (const PieceRange range : {PieceRange{0, half}, PieceRange{half, volume.pieces.size()}}) {
      const std::vector<GapId>& ids = volume.gaps[gap];
      if (range.from >= ids.size()) continue;
      Decisions choice = best_;
      set_gap(volume, gap, !choice.again[index(ids[range.from])], range, choice);
      better |= consider(choice);
    }
  return better;
}

bool HillClimb::try_weight(const VolumeFacts& volume, float weight) {
  Decisions choice = best_;
  for (const net::ValueId id : volume.pieces) choice.bias[index(id)] = weight;
  return choice.bias != best_.bias && consider(choice);
}

// Late acceptance (Burke and Bykov 2017): a choice becomes the current one when it is no worse than the one
// that was current some hundred rounds ago.
void HillClimb::improve_at_random() {
  if (movable_.empty()) return;
  constexpr std::size_t memory = 100;
  std::vector<Score> history(memory, best_score_);
  Decisions current = best_;
  Score current_score = best_score_;
  std::size_t last_success = 0;
  for (std::size_t round = 0; !is_done() && round - last_success < patience; ++round) {
    Decisions choice = disturbed(current);
    Score& then = history[round % memory];
    const Score found = score(choice, std::max(then, current_score));
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

std::size_t HillClimb::below(std::size_t n) {
  return static_cast<std::size_t>(random_.word(draw_++) % n);
}

// Any volume, or one of a few large ones: half of the time one drawn in proportion to its bytes.
std::int32_t HillClimb::draw() {
  if (below(2) == 0) return movable_[below(movable_.size())];
  const std::int64_t at =
      static_cast<std::int64_t>(random_.word(draw_++) % static_cast<std::uint64_t>(bytes_up_to_.back()));
  const auto found = std::upper_bound(bytes_up_to_.begin(), bytes_up_to_.end(), at);
  return movable_[static_cast<std::size_t>(found - bytes_up_to_.begin())];
}

// All pieces, or the first or the last of them.
PieceRange HillClimb::draw_range(const VolumeFacts& volume) {
  if (volume.pieces.size() == 1) return {};
  const std::size_t part = below(4);
  if (part < 2) return {};
  const std::size_t border = 1 + below(volume.pieces.size() - 1);
  return part == 2 ? PieceRange{0, border} : PieceRange{border, volume.pieces.size()};
}

Decisions HillClimb::disturbed(Decisions choice) {
  const std::size_t changes = 1 + below(3);
  for (std::size_t i = 0; i < changes; ++i) disturb_once(choice);
  return choice;
}

// A gap's flag, all flags of a volume, or of its sources too, or a weight.
void HillClimb::disturb_once(Decisions& choice) {
  const std::int32_t id = draw();
  const VolumeFacts& volume = facts_.volumes[index(id)];
  const PieceRange range = draw_range(volume);
  const auto first = std::min(range.from, volume.pieces.size() - 1);
  const bool repeat = options_.may_repeat && volume.repeatable && (!options_.may_swap || below(3) > 0);
  if (!repeat) {
    constexpr float weights[] = {0, 0.25F, 0.5F, 0.8F, 1, 1.25F, 2, 4};
    const float weight = weights[below(8)];
    for (std::size_t i = 0; i < volume.pieces.size(); ++i)
      if (range.contains(i)) choice.bias[index(volume.pieces[i])] = weight;
    return;
  }
  const std::size_t gaps = volume.gaps.size(), drawn = below(gaps + 3);
  if (drawn < gaps) {
    const std::vector<GapId>& ids = volume.gaps[drawn];
    set_gap(volume, drawn, !choice.again[index(ids[std::min(first, ids.size() - 1)])], range, choice);
  } else if (drawn == gaps) {
    const bool again = below(2) == 1;
    for (std::size_t gap = 0; gap < gaps; ++gap) set_gap(volume, gap, again, range, choice);
  } else if (drawn == gaps + 1) {
    const auto depth = static_cast<int>(below(6));
    repeat_with_sources(facts_, id, depth, below(2) == 1, choice);
  } else {
    const bool alone = !choice.alone[index(volume.pieces[first])];
    for (std::size_t i = 0; i < volume.pieces.size(); ++i)
      if (range.contains(i)) choice.alone[index(volume.pieces[i])] = alone;
  }
}

}  // namespace voxswap::swap
