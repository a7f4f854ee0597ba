#include "swap/planners/search.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/parallel.h"
#include "base/shape.h"
#include "swap/model/bound.h"
#include "swap/planners/coarsening.h"
#include "swap/planners/hill_climb.h"
#include "swap/planners/layout.h"
#include "swap/planners/spare_memory.h"

namespace voxswap::swap {
namespace {

struct Start {
  Decisions decisions;
  Score score;
  std::int64_t aim = 0;
};

class Search {
 public:
  Search(const GraphFacts& facts, const std::string& planner, const SearchOptions& options)
      : facts_(facts), options_(options), budget_(facts.problem->budgets.device) {
    climbing_.planner = planner;
    climbing_.may_swap = options.may_swap;
    climbing_.aim = budget_;
    climbing_.good_seconds = options.good_seconds;
    std::int64_t largest = 0, largest_volume = 0;
    for (const VolumeFacts& volume : facts.volumes) {
      const ValueFacts& slab = facts.values[index(volume.slabs.front())];
      if (slab.persistent) continue;
      largest = std::max(largest, slab.bytes);
      largest_volume = std::max(largest_volume, volume.bytes);
    }
    // Small graphs have few gaps.
    constexpr double usual_nodes = 320;
    options_.effort *= std::min(1.0, static_cast<double>(facts.nodes.size()) / usual_nodes);
    climbing_.least_bytes = largest / 256;
    climbing_.least_volume = largest_volume / 256;
  }

  // `from`: decisions to start with, if any.
  SearchResult run(const std::vector<Decisions>& from = {}) {
    for (const Decisions& decisions : from) add_start(decisions);
    sort_starts();
    const bool anew = starts_.empty() || starts_.front().score.excess > 0;
    if (anew) add_chains();
    if (options_.quick) return packed(starts_.front());
    if (starts_.front().score.excess == 0) take_if_better(packed(starts_.front()));
    if (anew && !is_good()) improve_starts();
    if (!is_good() && starts_.front().score.seconds > options_.to_beat) return packed(starts_.front());
    if (!is_good()) improve_for_less_memory();
    if (!is_good()) pack_the_best();
    if (!is_good()) polish();
    return *std::move(best_);
  }

  // The best decisions found, not laid out; none if no schedule is within the budgets.
  std::vector<Decisions> best_decisions() {
    add_chains();
    improve_starts();
    if (starts_.front().score.excess > 0) return {};
    if (is_good()) return {best_->decisions};
    starts_.resize(std::min(worth_packing, starts_.size()));
    improve(starts_, options_.effort * effort * 0.4);
    sort_starts();
    std::vector<Decisions> candidates;
    for (Start& start : starts_) candidates.push_back(std::move(start.decisions));
    return candidates;
  }

  SearchResult packed(const Decisions& decisions) const { return packed(Start{decisions, {}, budget_}); }

 private:
  bool is_good() const {
    return best_ && within(facts_.problem->budgets, best_->plan) &&
           best_->plan.predicted_seconds <= options_.good_seconds;
  }

  Schedule schedule_of(const Decisions& decisions, std::int64_t aim) const {
    return voxswap::swap::schedule_of(facts_, decisions, aim, climbing_.least_bytes);
  }

  void add_chains() {
    start_anew();
    if (starts_.front().score.excess == 0) return;
    climbing_.least_bytes = climbing_.least_volume = 0;  // consider small values, too
    start_anew();
  }

  void start_anew() {
    starts_.clear();
    const Decisions nothing = keep_everything(facts_);
    add_start(nothing);
    for (const std::int64_t least : {climbing_.least_volume, 64 * climbing_.least_volume})
      for (const bool costly : {false, true})
        for (const int chain : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
          Decisions decisions = nothing;
          recompute_in_chains(facts_, {chain, costly, least}, decisions);
          add_start(decisions);
          if (!costly || !facts_.in_slabs) continue;
          decisions.recompute_per_use.assign(decisions.recompute_per_use.size(), true);
          add_start(decisions);
        }
    if (facts_.in_slabs && !options_.quick) add_gradients();
    sort_starts();
    const auto same = [](const Start& a, const Start& b) {
      return a.decisions.recompute == b.decisions.recompute &&
             a.decisions.recompute_per_use == b.decisions.recompute_per_use &&
             a.decisions.retain == b.decisions.retain;
    };
    starts_.erase(std::unique(starts_.begin(), starts_.end(), same), starts_.end());
  }

  // With a slow link it pays to recompute the largest gradients as well.
  void add_gradients() {
    for (const std::int64_t least : {8, 32, 128})
      for (const std::int64_t least_gradient : {32, 128})
        for (const int chain : {6, 8, 10, 12, 16, 20, 24, 30, 36, 48, 64}) {
          Decisions decisions = keep_everything(facts_);
          const Chains chains{chain, true, least * climbing_.least_volume,
                              least_gradient * climbing_.least_volume};
          recompute_in_chains(facts_, chains, decisions);
          decisions.recompute_per_use.assign(decisions.recompute_per_use.size(), true);
          add_start(decisions);
        }
  }

  void add_start(const Decisions& decisions) {
    const Schedule schedule = schedule_of(decisions, budget_);
    starts_.push_back({decisions, score_of(facts_, schedule), budget_});
    if (!facts_.in_slabs || options_.quick || schedule.sequence.steps.empty()) return;
    for (const double share : {1.0, 0.9}) {
      const auto free = static_cast<double>(budget_ - facts_.persistent_bytes);
      const auto room = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
      for (const Decisions& filled : {keep_in_spare_memory(facts_, schedule, decisions, room),
                                      retain_in_spare_memory(facts_, schedule, decisions, room)}) {
        const Score score = score_of(facts_, schedule_of(filled, budget_));
        if (score < starts_.back().score) starts_.back() = {filled, score, budget_};
      }
    }
  }

  void sort_starts() {
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const Start& a, const Start& b) { return a.score < b.score; });
  }

  // Improves the best starting points; the results are in starts_, best first. For steps in slabs the score
  // of a starting point predicts little of the result, so more of them are tried, each with less effort.
  void improve_starts() {
    const bool many = facts_.in_slabs && options_.effort >= 1;
    starts_.resize(std::min<std::size_t>(many ? 24 : 6, starts_.size()));
    improve(starts_, options_.effort * effort * (many ? 0.6 : 0.5));
    sort_starts();
  }

  // Live values that fill the budget may not be packable into it. Improves the best decisions further, some
  // with less memory, which leads to other decisions.
  void improve_for_less_memory() {
    if (facts_.in_slabs) {
      improve_within_packable_memory(worth_packing);
      return improve_within_packable_memory(2);
    }
    const auto free = static_cast<double>(budget_ - facts_.persistent_bytes);
    std::vector<Start> further;
    for (const double share : {1.0, 0.985, 0.97, 0.955}) {
      further.push_back(starts_.front());
      further.back().aim = facts_.persistent_bytes + static_cast<std::int64_t>(share * free);
    }
    improve(further, options_.effort * effort / 2);
    starts_.insert(starts_.begin(), further.begin(), further.end());
  }

  // Lays out the best schedule to learn how much of the budget can be filled with thousands of allocations,
  // and continues the search with that much memory.
  void improve_within_packable_memory(std::size_t tried) {
    SearchResult first = packed(starts_.front());
    const std::int64_t aim = first.aim;
    take_if_better(std::move(first));
    starts_.resize(std::min(tried, starts_.size()));
    for (Start& start : starts_) start.aim = aim;
    improve(starts_, options_.effort * effort * 0.4);
    sort_starts();
  }

  // Improves every starting point by its own hill climb, in parallel. The first one, in their order, that
  // finds a good plan ends those after it, which then count for nothing: results do not depend on the number
  // of threads.
  void improve(std::vector<Start>& starts, double effort_to_spend) {
    std::vector<Start> improved(starts.size());
    std::vector<std::optional<SearchResult>> found(starts.size());
    std::atomic<std::size_t> first_good = starts.size();
    const std::uint64_t seed = seeds_;
    seeds_ += starts.size();
    parallel_for(starts.size(), [&](std::size_t i) {
      if (i > first_good) return;
      HillClimbOptions options = climbing_;
      options.aim = starts[i].aim;
      options.seed = seed + i;
      options.is_pointless = [&first_good, i] { return i > first_good; };
      HillClimb climb(facts_, options, starts[i].decisions);
      climb.improve(static_cast<std::int64_t>(effort_to_spend / static_cast<double>(starts.size())));
      std::size_t before = first_good;
      while (climb.is_good() && i < before && !first_good.compare_exchange_weak(before, i)) {
      }
      improved[i] = {climb.best(), climb.best_score(), options.aim};
      if (climb.found())
        found[i] =
            SearchResult{std::move(climb.found()->plan), std::move(climb.found()->decisions), options.aim};
    });
    for (std::size_t i = 0; i < std::min(starts.size(), first_good + 1); ++i) {
      starts[i] = std::move(improved[i]);
      if (found[i]) take_if_better(std::move(*found[i]));
    }
  }

  void take_if_better(SearchResult packed) {
    if (!best_ || better(packed.plan, best_->plan)) best_ = std::move(packed);
  }

  bool better(const Plan& plan, const Plan& than) const {
    const Budgets& budgets = facts_.problem->budgets;
    if (!within(budgets, plan)) return false;
    return !within(budgets, than) || plan.predicted_seconds < than.predicted_seconds;
  }

  // Packing may slow down the best schedule, so the next ones are packed too, unless they are already slower
  // than the best plan.
  void pack_the_best() {
    std::vector<std::optional<SearchResult>> all(std::min(worth_packing, starts_.size()));
    parallel_for(all.size(), [&](std::size_t i) {
      if (may_be_faster(starts_[i].score.seconds)) all[i] = packed(starts_[i]);
    });
    for (std::optional<SearchResult>& packed : all)
      if (packed) take_if_better(std::move(*packed));
  }

  // A schedule's time is an estimate.
  bool may_be_faster(double seconds) const {
    return !best_ || !within(facts_.problem->budgets, best_->plan) ||
           seconds < 1.005 * best_->plan.predicted_seconds;
  }

  // Packing may need more memory than the sum of live values: then schedules with less and less memory.
  SearchResult packed(const Start& start) const {
    const std::int64_t decrement = (start.aim - facts_.persistent_bytes) / 80;
    SearchResult best{{}, start.decisions, start.aim};
    int good = 0;
    constexpr int attempts = 32;
    for (int attempt = 0; attempt < attempts && good < 2; ++attempt) {
      const std::int64_t aim = start.aim - attempt * decrement;
      const Schedule schedule = schedule_of(start.decisions, aim);
      if (schedule.sequence.steps.empty() || (attempt > 0 && schedule.excess > 0)) break;
      const double packing_effort = options_.quick || attempt > 0 ? 1e7 : 5e7;
      Plan plan = lay_out(facts_, schedule, climbing_.planner, {.packing_effort = packing_effort});
      const bool fits = schedule.excess == 0 && within(facts_.problem->budgets, plan);
      if (fits ? good == 0 || plan.predicted_seconds < best.plan.predicted_seconds
               : good == 0 && (best.plan.instructions.empty() || plan.peak_bytes < best.plan.peak_bytes)) {
        best.plan = std::move(plan);
        if (fits) best.aim = aim;
      }
      good += fits;
      if (fits && attempt == 0) break;
    }
    return best;
  }

  // A schedule's time is an estimate: the last random moves are judged by laying out and simulating plans.
  void polish() {
    HillClimbOptions options = climbing_;
    options.seed = seeds_;
    HillClimb climb(facts_, options, best_->decisions);
    const auto cost = static_cast<double>(best_->plan.instructions.size());
    double estimate = schedule_of(best_->decisions, best_->aim).seconds;
    int failures = 0;
    const double most = std::min(1.0, options_.effort) * polishing;
    for (double spent = 0; spent < most && failures < 300 && climb.can_change() && !is_good();
         spent += 0.1 * cost + 1) {
      Decisions decisions = climb.perturbed(best_->decisions);
      const Schedule schedule = schedule_of(decisions, best_->aim);
      if (schedule.excess > 0 || schedule.seconds > 1.2 * estimate) continue;
      spent += cost;
      Plan other = lay_out(facts_, schedule, climbing_.planner, {.packing_effort = quick_packing});
      ++failures;
      if (!better(other, best_->plan)) continue;
      failures = 0;
      best_ = SearchResult{std::move(other), std::move(decisions), best_->aim};
      estimate = schedule.seconds;
    }
  }

  static constexpr std::size_t worth_packing = 6;
  static constexpr double polishing = 60'000;  // instructions laid out in polish()
  // Steps and copies scheduled in all hill climbs together: two or three seconds on one core for a usual
  // graph.
  static constexpr double effort = 60'000'000;

  const GraphFacts& facts_;
  SearchOptions options_;
  std::int64_t budget_;
  HillClimbOptions climbing_;
  std::vector<Start> starts_;  // best first
  std::uint64_t seeds_ = 0;    // used so far
  std::optional<SearchResult> best_;
};

}  // namespace

double good_seconds(const StepProblem& problem) {
  return 1.001 *
         lower_bound(*problem.graph, problem.workspaces, problem.kept, *problem.costs, problem.budgets)
             .seconds;
}

SearchResult search_plan(const GraphFacts& facts, const std::string& planner, const SearchOptions& options) {
  if (facts.problem->in_fewer_slabs == nullptr || options.quick) return Search(facts, planner, options).run();
  const StepInFewerSlabs fewer(*facts.problem);
  const GraphFacts coarse(fewer.problem);
  std::vector<Decisions> from;
  for (const Decisions& decisions : Search(coarse, planner, options).best_decisions())
    from.push_back(for_finer(coarse, decisions, facts));
  return Search(facts, planner, options).run(from);
}

Plan lay_out_within_budget(const GraphFacts& facts, const std::string& planner, const SearchOptions& options,
                           const Decisions& decisions) {
  return Search(facts, planner, options).packed(decisions).plan;
}

}  // namespace voxswap::swap
