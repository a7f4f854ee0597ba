#include "swap/planners/hill_climb.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/shape.h"
#include "swap/planners/layout.h"
#include "swap/planners/spare_memory.h"

namespace voxswap::swap {
namespace {

constexpr std::size_t patience = 3000;  // rounds without improvement

}  // namespace

Schedule schedule_of(const GraphFacts& facts, const Decisions& decisions, std::int64_t aim,
                     std::int64_t least_bytes, double most_seconds) {
  throw_if_interrupted();
  std::optional<Sequence> sequence = expand(facts, decisions);
  Schedule failed;
  failed.excess = std::numeric_limits<double>::max();
  if (!sequence) return failed;
  ScheduleOptions options;
  options.device_budget = aim;
  options.least_bytes = least_bytes;
  options.most_seconds = most_seconds;
  options.reserve = static_cast<std::int64_t>(
      decisions.reserve * static_cast<double>(std::max<std::int64_t>(0, aim - facts.persistent_bytes)));
  return schedule(facts, std::move(*sequence), decisions.eviction_bias, options);
}

Score score_of(const GraphFacts& facts, const Schedule& schedule) {
  const CostModel& costs = *facts.problem->costs;
  const double moved = costs.to_host.busy > 0 ? schedule.moved_bytes / costs.to_host.busy : 0;
  return {schedule.excess, schedule.seconds + 0.02 * moved};
}

HillClimb::HillClimb(const GraphFacts& facts, const HillClimbOptions& options, Decisions start)
    : facts_(facts), options_(options), random_(0x706c616e, options.seed), best_(std::move(start)) {
  for (std::int32_t id = 0; index(id) < facts_.volumes.size(); ++id) {
    const VolumeFacts& volume = facts_.volumes[index(id)];
    if (!facts_.values[index(volume.slabs.front())].persistent && volume.bytes >= options_.least_volume)
      movable_.push_back(id);
  }
  const auto bytes_of = [&](std::int32_t id) { return facts_.volumes[index(id)].bytes; };
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&](std::int32_t a, std::int32_t b) { return bytes_of(a) > bytes_of(b); });
  for (const std::int32_t id : movable_)
    bytes_up_to_.push_back(bytes_of(id) + (bytes_up_to_.empty() ? 0 : bytes_up_to_.back()));
  cooldowns_.resize(facts_.volumes.size());
  best_score_ = score(best_);
  best_schedule_ = last_;
}

void HillClimb::improve(std::int64_t effort) {
  left_ = effort;
  if (facts_.in_slabs) improve_costliest();
  improve_in_turn();
  improve_at_random();
  if (!is_laid_out_ && best_score_.excess == 0) {
    score(best_);
    lay_out_best();
  }
}

bool HillClimb::is_done() const {
  return left_ <= 0 || is_good() || (options_.is_pointless && options_.is_pointless());
}

// For steps in slabs, schedules that turn out worse than `at_most` early are abandoned.
Score HillClimb::score(const Decisions& decisions, const Score& at_most) {
  const bool limited = facts_.in_slabs && at_most.excess == 0;
  last_ = schedule_of(facts_, decisions, options_.aim, options_.least_bytes,
                      limited ? at_most.seconds : std::numeric_limits<double>::max());
  left_ -= static_cast<std::int64_t>(facts_.nodes.size() + last_.sequence.steps.size() +
                                     10 * last_.evictions.size());
  return score_of(facts_, last_);
}

bool HillClimb::consider(const Decisions& decisions) {
  const Score found = score(decisions, best_score_);
  if (!(found < best_score_)) return false;
  note_best(decisions, found);
  return true;
}

// Lays out the last schedule only if it is clearly faster than the one laid out before: packing every small
// improvement would take longer than the search.
void HillClimb::note_best(const Decisions& decisions, const Score& score) {
  best_score_ = score;
  best_ = decisions;
  if (facts_.in_slabs) best_schedule_ = last_;
  is_laid_out_ = false;
  constexpr double clearly_faster = 0.004;
  if (last_.excess == 0 && last_.seconds < (1 - clearly_faster) * laid_out_seconds_) lay_out_best();
}

// Packing thousands of allocations costs as much as many schedules: after failures, packing waits until the
// search is over.
void HillClimb::lay_out_best() {
  constexpr int failures = 2;
  if (facts_.in_slabs && unpackable_ >= failures) return;
  is_laid_out_ = true;
  laid_out_seconds_ = last_.seconds;
  if (found_ && last_.seconds >= found_->plan.predicted_seconds) return;
  Plan plan = lay_out(facts_, last_, options_.planner, {.packing_effort = quick_packing});
  left_ -= 30 * static_cast<std::int64_t>(plan.instructions.size());
  unpackable_ = within(facts_.problem->budgets, plan) ? 0 : unpackable_ + 1;
  if (unpackable_ > 0) return;
  if (!found_ || plan.predicted_seconds < found_->plan.predicted_seconds)
    found_ = Found{std::move(plan), best_};
}

// Tries a few moves on the volumes that cost the best schedule most time. Steps in slabs have too many
// volumes, and their schedules take too long, to try all of them from every starting point.
void HillClimb::improve_costliest() {
  constexpr std::size_t most = 16;
  constexpr double worth_another_round = 0.995;
  double before = std::numeric_limits<double>::max();
  while (!is_done() && best_score_.seconds < worth_another_round * before) {
    before = best_score_.seconds;
    const std::vector<std::int32_t> costly = costliest_volumes(facts_, best_schedule_);
    for (std::size_t i = 0; i < std::min(most, costly.size()) && !is_done(); ++i) improve_costly(costly[i]);
    use_free_memory();
    try_reserves();
    try_reuse_windows();
  }
}

void HillClimb::improve_costly(std::int32_t id) {
  const VolumeFacts& volume = facts_.volumes[index(id)];
  if (!volume.recomputable) return;
  if (try_sources(id, 0, true) || try_sources(id, 1, true) || try_all(volume, false)) return;
  if (try_per_use(volume)) return;
  for (std::size_t gap = 0; gap < volume.gaps.size(); ++gap) try_flip(volume, gap);
}

// A move that failed n times in a row is skipped for n rounds, and tried once more when nothing else helps.
void HillClimb::improve_in_turn() {
  while (!is_done()) {
    const std::size_t skipped_before = skipped_;
    bool better = facts_.in_slabs && (use_free_memory() | try_reserves() | try_reuse_windows());
    for (const std::int32_t id : movable_) {
      if (is_done() || facts_.volumes[index(id)].bytes < 16 * options_.least_volume) break;
      better |= improve_volume(id);
    }
    ++round_;
    if (better) continue;
    if (skipped_ == skipped_before) return;
    std::fill(cooldowns_.begin(), cooldowns_.end(), Cooldowns{});
  }
}

// Moves that use spare memory or avoid stalls of the best schedule.
bool HillClimb::use_free_memory() {
  bool better = false;
  for (const double share : {1.0, 0.97, 0.92, 0.85}) better |= try_keeping(share, nullptr);
  for (const double share : {1.0, 0.97, 0.92, 0.85}) better |= try_retaining(share);
  for (const double share : {1.0, 0.5, 0.25, 0.1}) {
    const Decisions decisions = recompute_stalling_copies(facts_, best_schedule_, best_, share);
    better |= decisions.recompute != best_.recompute && consider(decisions);
  }
  return better;
}

// Fills `share` of the memory that persistent values leave free.
bool HillClimb::try_keeping(double share, const VolumeFacts* volume) {
  const auto free = static_cast<double>(options_.aim - facts_.persistent_bytes);
  const auto budget = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
  const Decisions decisions = keep_in_spare_memory(facts_, best_schedule_, best_, budget, volume);
  return (decisions.recompute != best_.recompute || decisions.recompute_per_use != best_.recompute_per_use) &&
         consider(decisions);
}

bool HillClimb::try_retaining(double share) {
  const auto free = static_cast<double>(options_.aim - facts_.persistent_bytes);
  const auto budget = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
  const Decisions decisions = retain_in_spare_memory(facts_, best_schedule_, best_, budget);
  return decisions.retain != best_.retain && consider(decisions);
}

bool HillClimb::try_reserves() {
  bool better = false;
  for (const double reserve : {0.0, 0.01, 0.02, 0.04, 0.08, 0.16}) {
    Decisions decisions = best_;
    decisions.reserve = reserve;
    better |= reserve != best_.reserve && consider(decisions);
  }
  return better;
}

bool HillClimb::try_reuse_windows() {
  bool better = false;
  for (const net::NodeId window : {halo_nodes, 2 * halo_nodes, 4 * halo_nodes}) {
    Decisions decisions = best_;
    decisions.reuse_window = window;
    better |= window != best_.reuse_window && consider(decisions);
  }
  return better;
}

bool HillClimb::improve_volume(std::int32_t id) {
  const VolumeFacts& volume = facts_.volumes[index(id)];
  bool better = false;
  for (std::size_t kind = 0; kind < kinds_of_moves && !is_done(); ++kind) {
    Cooldown& cooldown = cooldowns_[index(id)][kind];
    if (cooldown.until > round_) {
      ++skipped_;
      continue;
    }
    const bool helped = try_move(static_cast<Move>(kind), id, volume);
    cooldown.failures = helped ? 0 : cooldown.failures + 1;
    cooldown.until = round_ + 1 + cooldown.failures;
    better |= helped;
  }
  if (better && facts_.in_slabs) use_free_memory();
  return better;
}

bool HillClimb::try_move(Move move, std::int32_t id, const VolumeFacts& volume) {
  const bool recomputes = volume.recomputable, in_slabs = volume.slabs.size() > 1;
  bool better = false;
  switch (move) {
    case Move::all_gaps:
      return recomputes && (try_all(volume, false) || try_all(volume, true));
    case Move::sources:
    case Move::sources_per_use:
      for (const int depth : {0, 1, 2, 4})
        better |= recomputes && try_sources(id, depth, move == Move::sources_per_use);
      return better;
    case Move::per_use:
      return recomputes && !volume.cheap && try_per_use(volume);
    case Move::one_gap:
      for (std::size_t gap = 0; recomputes && gap < volume.gaps.size() && left_ > 0; ++gap)
        better |= try_flip(volume, gap);
      return better;
    case Move::spare_memory:
      return recomputes && in_slabs && try_keeping(1, &volume);
    case Move::halves:
      return recomputes && in_slabs && volume.bytes >= 64 * options_.least_volume && try_halves(volume);
    case Move::bias:
      for (const float bias : {0.0F, 0.5F, 2.0F, 1.0F}) better |= options_.may_swap && try_bias(volume, bias);
      return better;
  }
  return false;
}

bool HillClimb::try_all(const VolumeFacts& volume, bool recompute) {
  Decisions decisions = best_;
  for (std::size_t gap = 0; gap < volume.gaps.size(); ++gap) set_gap(volume, gap, recompute, {}, decisions);
  return decisions.recompute != best_.recompute && consider(decisions);
}

bool HillClimb::try_sources(std::int32_t id, int depth, bool per_use) {
  Decisions decisions = best_;
  recompute_with_sources(facts_, id, depth, per_use, decisions);
  return (decisions.recompute != best_.recompute || decisions.recompute_per_use != best_.recompute_per_use) &&
         consider(decisions);
}

bool HillClimb::try_per_use(const VolumeFacts& volume) {
  Decisions decisions = best_;
  const bool per_use = !decisions.recompute_per_use[index(volume.slabs.front())];
  for (const net::ValueId id : volume.slabs) decisions.recompute_per_use[index(id)] = per_use;
  return consider(decisions);
}

bool HillClimb::try_flip(const VolumeFacts& volume, std::size_t gap) {
  Decisions decisions = best_;
  set_gap(volume, gap, !decisions.recompute[index(volume.gaps[gap].front())], {}, decisions);
  return consider(decisions);
}

// Flips recompute in one gap for the first or the second half of the slabs.
bool HillClimb::try_halves(const VolumeFacts& volume) {
  bool better = false;
  const std::size_t half = volume.slabs.size() / 2;
  for (std::size_t gap = 0; gap < volume.gaps.size() && left_ > 0; ++gap)
    for (const SlabRange range : {SlabRange{0, half}, SlabRange{half, volume.slabs.size()}}) {
      const std::vector<GapId>& ids = volume.gaps[gap];
      if (range.from >= ids.size()) continue;
      Decisions decisions = best_;
      set_gap(volume, gap, !decisions.recompute[index(ids[range.from])], range, decisions);
      better |= consider(decisions);
    }
  return better;
}

bool HillClimb::try_bias(const VolumeFacts& volume, float bias) {
  Decisions decisions = best_;
  for (const net::ValueId id : volume.slabs) decisions.eviction_bias[index(id)] = bias;
  return decisions.eviction_bias != best_.eviction_bias && consider(decisions);
}

// Late acceptance (Burke and Bykov 2017): decisions become the current ones if they are no worse than those
// that were current a hundred rounds ago, or than the current ones.
void HillClimb::improve_at_random() {
  if (movable_.empty()) return;
  constexpr std::size_t memory = 100;
  std::vector<Score> history(memory, best_score_);
  Decisions current = best_;
  Score current_score = best_score_;
  std::size_t last_success = 0;
  for (std::size_t round = 0; !is_done() && round - last_success < patience; ++round) {
    Decisions decisions = perturbed(current);
    Score& then = history[round % memory];
    const Score found = score(decisions, std::max(then, current_score));
    if (!(then < found) || !(current_score < found)) {
      current = std::move(decisions);
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

// Draws a volume: uniformly, or half of the time in proportion to its bytes.
std::int32_t HillClimb::draw() {
  if (below(2) == 0) return movable_[below(movable_.size())];
  const std::int64_t at =
      static_cast<std::int64_t>(random_.word(draw_++) % static_cast<std::uint64_t>(bytes_up_to_.back()));
  const auto found = std::upper_bound(bytes_up_to_.begin(), bytes_up_to_.end(), at);
  return movable_[static_cast<std::size_t>(found - bytes_up_to_.begin())];
}

// All slabs, or the first or the last of them.
SlabRange HillClimb::draw_range(const VolumeFacts& volume) {
  if (volume.slabs.size() == 1) return {};
  const std::size_t part = below(4);
  if (part < 2) return {};
  const std::size_t border = 1 + below(volume.slabs.size() - 1);
  return part == 2 ? SlabRange{0, border} : SlabRange{border, volume.slabs.size()};
}

Decisions HillClimb::perturbed(Decisions decisions) {
  const std::size_t changes = 1 + below(3);
  for (std::size_t i = 0; i < changes; ++i) perturb_once(decisions);
  return decisions;
}

// Changes one gap, all gaps of a volume, those of its sources as well, recompute_per_use, or the eviction
// bias.
void HillClimb::perturb_once(Decisions& decisions) {
  const std::int32_t id = draw();
  const VolumeFacts& volume = facts_.volumes[index(id)];
  const SlabRange range = draw_range(volume);
  const auto first = std::min(range.from, volume.slabs.size() - 1);
  const bool recomputes = volume.recomputable && (!options_.may_swap || below(3) > 0);
  if (!recomputes) {
    constexpr float biases[] = {0, 0.25F, 0.5F, 0.8F, 1, 1.25F, 2, 4};
    const float bias = biases[below(8)];
    for (std::size_t i = 0; i < volume.slabs.size(); ++i)
      if (range.contains(i)) decisions.eviction_bias[index(volume.slabs[i])] = bias;
    return;
  }
  const std::size_t gaps = volume.gaps.size(), drawn = below(gaps + 3);
  if (drawn < gaps) {
    const std::vector<GapId>& ids = volume.gaps[drawn];
    set_gap(volume, drawn, !decisions.recompute[index(ids[std::min(first, ids.size() - 1)])], range,
            decisions);
  } else if (drawn == gaps) {
    const bool recompute = below(2) == 1;
    for (std::size_t gap = 0; gap < gaps; ++gap) set_gap(volume, gap, recompute, range, decisions);
  } else if (drawn == gaps + 1) {
    const auto depth = static_cast<int>(below(6));
    recompute_with_sources(facts_, id, depth, below(2) == 1, decisions);
  } else {
    const bool per_use = !decisions.recompute_per_use[index(volume.slabs[first])];
    for (std::size_t i = 0; i < volume.slabs.size(); ++i)
      if (range.contains(i)) decisions.recompute_per_use[index(volume.slabs[i])] = per_use;
  }
}

}  // namespace voxswap::swap
