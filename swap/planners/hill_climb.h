// Local search: improves decisions by small changes (moves), each judged by the time of its schedule.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/philox.h"
#include "swap/planners/decisions.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

// Smaller is better. Excess over the budgets is compared first.
struct Score {
  double excess = std::numeric_limits<double>::max(), seconds = 0;
  bool operator<(const Score& other) const {
    return excess != other.excess ? excess < other.excess : seconds < other.seconds;
  }
};

struct HillClimbOptions {
  std::string planner;
  bool may_swap = true;
  std::int64_t aim = 0;           // device memory that a schedule may use: the budget, or less
  std::int64_t least_bytes = 0;   // smaller values stay on the device
  std::int64_t least_volume = 0;  // smaller volumes are not changed
  std::uint64_t seed = 0;
  double good_seconds = 0;             // a plan that takes no longer ends the search
  std::function<bool()> is_pointless;  // ends it, too; its results are then not used
};

// The schedule of these decisions within `aim` bytes. One that takes longer than `most_seconds` may be
// abandoned (scheduling.h).
Schedule schedule_of(const GraphFacts& facts, const Decisions& decisions, std::int64_t aim,
                     std::int64_t least_bytes, double most_seconds = std::numeric_limits<double>::max());

// The score of a schedule. It adds a small penalty per byte moved even where copies cost no time, which leads
// to decisions that do save time.
Score score_of(const GraphFacts& facts, const Schedule& schedule);

constexpr double quick_packing = 1e6;  // packing effort for one plan of many: a few milliseconds

class HillClimb {
 public:
  HillClimb(const GraphFacts& facts, const HillClimbOptions& options, Decisions start);

  // Tries every kind of move on every volume, large volumes first, until none helps; then random moves.
  // `effort`: about the number of steps and copies to schedule.
  void improve(std::int64_t effort);

  const Decisions& best() const { return best_; }
  const Score& best_score() const { return best_score_; }

  // The fastest plan within the budgets of those laid out on the way. It may belong to other decisions than
  // best(), whose schedule may not be packable.
  struct Found {
    Plan plan;
    Decisions decisions;
  };
  std::optional<Found>& found() { return found_; }
  bool is_good() const { return found_ && found_->plan.predicted_seconds <= options_.good_seconds; }

  // These decisions after one to three random moves.
  Decisions perturbed(Decisions decisions);
  bool can_change() const { return !movable_.empty(); }

 private:
  // The moves on one volume, in the order in which they are tried.
  enum class Move {
    all_gaps,         // recompute in all gaps, or in none
    sources,          // recompute the volume and its sources, some levels up
    sources_per_use,  // the same, for every reader
    per_use,          // flip recompute_per_use
    one_gap,          // flip recompute in one gap
    spare_memory,     // stop recomputing slabs that fit into spare memory
    halves,           // flip recompute in one gap, for half of the slabs
    bias,             // set the eviction bias
  };
  static constexpr std::size_t kinds_of_moves = static_cast<std::size_t>(Move::bias) + 1;
  // A kind of move that did not help is skipped until this round.
  struct Cooldown {
    int failures = 0, until = 0;
  };
  using Cooldowns = std::array<Cooldown, kinds_of_moves>;

  Score score(const Decisions& decisions, const Score& at_most = {});
  bool consider(const Decisions& decisions);
  void note_best(const Decisions& decisions, const Score& score);
  void lay_out_best();
  bool is_done() const;
  void improve_costliest();
  void improve_costly(std::int32_t id);
  void improve_in_turn();
  bool use_free_memory();
  bool try_keeping(double share, const VolumeFacts* volume);
  bool try_retaining(double share);
  bool try_reserves();
  bool try_reuse_windows();
  bool improve_volume(std::int32_t id);
  bool try_move(Move move, std::int32_t id, const VolumeFacts& volume);
  bool try_all(const VolumeFacts& volume, bool recompute);
  bool try_sources(std::int32_t id, int depth, bool per_use);
  bool try_per_use(const VolumeFacts& volume);
  bool try_flip(const VolumeFacts& volume, std::size_t gap);
  bool try_halves(const VolumeFacts& volume);
  bool try_bias(const VolumeFacts& volume, float bias);
  void improve_at_random();
  std::size_t below(std::size_t n);
  std::int32_t draw();
  SlabRange draw_range(const VolumeFacts& volume);
  void perturb_once(Decisions& decisions);

  const GraphFacts& facts_;
  HillClimbOptions options_;
  Philox random_;
  std::uint64_t draw_ = 0;
  std::int64_t left_ = 0;                  // effort
  std::vector<std::int32_t> movable_;      // volumes of at least least_volume bytes, the largest first
  std::vector<std::int64_t> bytes_up_to_;  // prefix sums over movable_
  Decisions best_;
  Score best_score_;
  Schedule last_;           // of the decisions that were scored last
  Schedule best_schedule_;  // of best_; only for steps in slabs
  std::optional<Found> found_;
  bool is_laid_out_ = false;                                      // best_
  double laid_out_seconds_ = std::numeric_limits<double>::max();  // of the schedule laid out last
  int round_ = 0;                                                 // over all volumes
  std::vector<Cooldowns> cooldowns_;                              // per volume
  std::size_t skipped_ = 0;                                       // moves, because of their cooldown
  int unpackable_ = 0;  // plans in a row that exceeded the budgets when laid out
};

}  // namespace voxswap::swap
