// The search behind `hybrid` and `checkpoint`: which values to recompute and which to swap.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/philox.h"
#include "swap/model/costs.h"
#include "swap/planners/decisions.h"
#include "swap/planners/planner.h"
#include "swap/planners/scheduling.h"

namespace voxswap::swap {

struct SearchOptions {
  bool may_swap = true;
  bool may_repeat = true;
  double effort = 1;   // times the usual one
  bool quick = false;  // starting points only: to find out what fits
  // Seconds of a plan that is there already: what comes nowhere near is not worked out to the end.
  double to_beat = std::numeric_limits<double>::max();
  double good_seconds = 0;  // a plan that takes no longer ends the search
};

// A plan and what it was made of.
struct Searched {
  Plan plan;
  Decisions choice;
  std::int64_t aim = 0;  // device memory that it was to use
};

// The best plan found whose arena, host pool and scratch file are within the budgets; otherwise one that is
// over them, the nearest that was found. A pure function of the request.
//
// Starting points are the choices (choice.h) that make nothing again, or what can be made again in chains of
// limited length, or what a search in fewer pieces came to (fewer_slabs.cpp); then flags and weights are
// tried in turn, those of large values first, as long as that helps, and then some of them at random, seeded.
// A choice is judged by its schedule's time; the best ones are laid out and judged by simulation.
Searched search_plan(const GraphFacts& facts, const std::string& planner, const SearchOptions& options);

// The plan of a choice that is made already, within the budgets if it can be packed so.
Plan lay_out_within_budget(const GraphFacts& facts, const std::string& planner, const SearchOptions& options,
                           const Decisions& choice);

// Local search: improves a choice by small changes, each evaluated by the time of its schedule.
// Smaller is better: what is over the budgets counts before time.
struct Score {
  double excess = std::numeric_limits<double>::max(), seconds = 0;
  bool operator<(const Score& other) const {
    return excess != other.excess ? excess < other.excess : seconds < other.seconds;
  }
};

struct HillClimbOptions {
  std::string planner;
  bool may_swap = true, may_repeat = true;
  std::int64_t aim = 0;           // device memory that a schedule may use: the budget, or less
  std::int64_t least_bytes = 0;   // smaller values stay
  std::int64_t least_volume = 0;  // bytes of the smallest volumes that are chosen for
  std::uint64_t seed = 0;
  double good_seconds = 0;  // a plan that takes no longer ends the search
};

// `most_seconds`: one that takes longer is not worked out to the end.
Schedule schedule_of(const GraphFacts& facts, const Decisions& choice, std::int64_t aim,
                     std::int64_t least_bytes, double most_seconds = std::numeric_limits<double>::max());

// Of a schedule. A little counts for what is moved even where it costs no time: it leads to choices that do
// save time.
Score score_of(const GraphFacts& facts, const Schedule& schedule);

constexpr double quick_packing = 1e6;  // effort for one plan of many: a few milliseconds

class HillClimb {
 public:
  HillClimb(const GraphFacts& facts, const HillClimbOptions& options, Decisions start);

  // Every flag of every volume, all of a volume at once, and its weight, those of large volumes first, as
  // long as that helps; then some of them at random, of some of the pieces too. `effort` is about the number
  // of steps and copies that are scheduled.
  void improve(std::int64_t effort);

  const Decisions& best() const { return best_; }
  const Score& best_score() const { return best_score_; }

  // The best plan of those that were laid out on the way, and its choice: the best choices may not be ones
  // that can be packed. None if none was within the budgets.
  struct Found {
    Plan plan;
    Decisions choice;
  };
  std::optional<Found>& found() { return found_; }

  // With one to three random changes.
  Decisions disturbed(Decisions choice);
  bool can_change() const { return !movable_.empty(); }

 private:
  // Of one volume, in the order in which they are tried.
  enum class Change { all, sources, sources_alone, alone, flips, room, halves, weights };
  static constexpr std::size_t kinds_of_changes = static_cast<std::size_t>(Change::weights) + 1;
  // Since when and until which round a change is not tried.
  struct Rest {
    int in_vain = 0, until = 0;
  };
  using Rests = std::array<Rest, kinds_of_changes>;

  Score score(const Decisions& choice, const Score& at_most = {});
  bool consider(const Decisions& choice);
  void note_best(const Decisions& choice, const Score& score);
  void lay_out_best();
  bool is_done() const;
  void improve_what_takes_longest();
  void improve_costly(std::int32_t id);
  void improve_in_turn();
  bool use_free_memory();
  bool try_room(double share, const VolumeFacts* volume);
  bool try_holding(double share);
  bool try_reserves();
  bool try_windows();
  bool improve_volume(std::int32_t id);
  bool try_change(Change change, std::int32_t id, const VolumeFacts& volume);
  bool try_all(const VolumeFacts& volume, bool again);
  bool try_sources(std::int32_t id, int depth, bool alone);
  bool try_alone(const VolumeFacts& volume);
  bool try_flip(const VolumeFacts& volume, std::size_t gap);
  bool try_halves(const VolumeFacts& volume);
  bool try_weight(const VolumeFacts& volume, float weight);
  void improve_at_random();
  std::size_t below(std::size_t n);
  std::int32_t draw();
  PieceRange draw_range(const VolumeFacts& volume);
  void disturb_once(Decisions& choice);

  const GraphFacts& facts_;
  HillClimbOptions options_;
  Philox random_;
  std::uint64_t draw_ = 0;
  std::int64_t left_ = 0;              // of the effort
  std::vector<std::int32_t> movable_;  // volumes large enough for a choice of their own, the largest first
  std::vector<std::int64_t> bytes_up_to_;  // of the movable volumes, this one included
  Decisions best_;
  Score best_score_;
  Schedule last_;           // of the choice that was scored last
  Schedule best_schedule_;  // of the best choice, of steps in pieces
  std::optional<Found> found_;
  bool is_laid_out_ = false;                                      // the best choice
  double laid_out_seconds_ = std::numeric_limits<double>::max();  // of the schedule that was laid out last
  int round_ = 0;                                                 // over all volumes
  std::vector<Rests> rests_;                                      // per volume
  std::size_t rested_ = 0;                                        // changes that were not tried
  int unpackable_ = 0;  // plans in a row that were over the budgets when laid out
};

// A step with many slabs is searched with fewer slabs first: each choice is evaluated faster, and most
// choices concern whole volumes. The result starts the search with all slabs.

// The request for `finer.in_fewer_slabs`. Its nodes take together what the nodes of the same operation take
// in `finer`, and each needs as much workspace as the one of those that needs most.
struct StepInFewerSlabs {
  explicit StepInFewerSlabs(const PlanRequest& finer);  // REQUIRES: finer.in_fewer_slabs, finer.costs
  StepInFewerSlabs(const StepInFewerSlabs&) = delete;
  StepInFewerSlabs& operator=(const StepInFewerSlabs&) = delete;

  CostModel costs;
  PlanRequest request;
};

// For every slab what was chosen for the coarser one in which its middle lies.
Decisions for_finer(const GraphFacts& coarse, const Decisions& choice, const GraphFacts& fine);

}  // namespace voxswap::swap
