#include "pipeline/sweep/halving.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "pipeline/report/class_tables.h"

namespace voxswap::pipeline {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

using Epochs = std::map<std::int64_t, double>;  // a value for each epoch

// Mean validation scores of a repeat, with its weights and their average.
struct Scores {
  Epochs own, averaged;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Scores validation_scores(const fs::path& run, std::int64_t repeat) {
  Scores scores;
  for (const AccuracyRow& row : rows_in<AccuracyRow>(run / "accuracy.csv"))
    if (row.repeat == repeat) scores.own[row.epoch] = row.accuracy;
  for (const ValidationRow& row : means_over_regions(rows_in<ValidationRow>(run / "validation.csv"))) {
    if (row.repeat != repeat) continue;
    scores.own[row.epoch] = row.dice;
    scores.averaged[row.epoch] = row.averaged_dice;
  }
  return scores;
}

// The score of the epoch with the lowest loss so far, the first among equals, as training chooses its
// weights.
struct BestSoFar {
  double loss = std::numeric_limits<double>::infinity(), score = unknown;

  void add(double new_loss, double new_score) {
    if (new_loss < loss) *this = {new_loss, new_score};
  }
};

std::vector<double> scores_of_repeat(const fs::path& run, const std::vector<EpochRow>& rows,
                                     std::int64_t repeat) {
  const Scores found = validation_scores(run, repeat);
  BestSoFar own, averaged;
  std::vector<double> scores;
  for (const EpochRow& row : rows) {
    const auto at = found.own.find(row.epoch);
    if (row.repeat != repeat || at == found.own.end()) continue;
    own.add(row.validation_loss, at->second);
    if (const auto average = found.averaged.find(row.epoch); average != found.averaged.end())
      averaged.add(row.averaged_validation_loss, average->second);
    scores.push_back(std::isfinite(averaged.loss) ? averaged.score : own.score);
  }
  return scores;
}

double score_at(const CellRecord& cell, const RoundCell& at) {
  const auto epochs = std::min(static_cast<std::size_t>(at.until), cell.scores.size());
  return at.settled && epochs > 0 ? cell.scores[epochs - 1] : unknown;
}

// Means over the cells of each setting; unknown if one of them failed.
std::vector<double> setting_scores(const std::vector<CellRecord>& cells, const std::vector<RoundCell>& round,
                                   std::size_t settings) {
  std::vector<std::vector<double>> all(settings);
  for (const RoundCell& at : round) all[cells[at.cell].setting].push_back(score_at(cells[at.cell], at));
  std::vector<double> scores;
  for (const std::vector<double>& of_setting : all)
    scores.push_back(of_setting.empty() ? unknown : mean(of_setting));
  return scores;
}

// Settings with a score, best first.
std::vector<std::size_t> ranking(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t setting) { return std::isnan(scores[setting]); });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t setting) { return scores[setting]; });
  return order;
}

std::vector<RoundCell> round_cells(const std::vector<CellRecord>& cells, const std::vector<bool>& remains,
                                   const Rung* before, const Rung* next) {
  std::vector<RoundCell> round;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellRecord& cell = cells[i];
    if (!remains[cell.setting]) continue;
    const std::int64_t until = next ? rung_epoch(cell.epochs, *next) : 0;
    round.push_back({i, until, before ? rung_epoch(cell.epochs, *before) : 0,
                     cell.finished || (next && cell.reached >= until)});
  }
  return round;
}

constexpr const char* stopped = "stopped";

const char* decision_on(const CellRecord& cell, const RoundCell& at, bool is_kept) {
  if (is_kept) return "kept";
  if (cell.finished) return "finished";
  return at.settled ? stopped : "failed";
}

}  // namespace

std::int64_t rung_epoch(std::int64_t epochs, const Rung& rung) {
  return (epochs + rung.divisor - 1) / rung.divisor;
}

std::vector<Rung> rungs(const Halving& halving, std::size_t settings, std::int64_t epochs) {
  const auto eta = static_cast<std::size_t>(halving.eta);
  const auto kept_of = [&](std::size_t count) { return (count + eta - 1) / eta; };
  std::vector<Rung> result;
  std::int64_t divisor = halving.eta;
  for (std::size_t left = settings; left > 1; left = kept_of(left), divisor *= halving.eta) {
    if (divisor > epochs || 1.0 / static_cast<double>(divisor) < halving.first_rung) break;
    result.insert(result.begin(), {divisor, 0, 0});
  }
  for (Rung& rung : result) {
    rung.settings = settings;
    rung.kept = settings = kept_of(settings);
  }
  return result;
}

RecordedScores recorded_scores(const fs::path& run, std::int64_t repeats) {
  const auto rows = rows_in<EpochRow>(run / "epochs.csv");
  std::vector<std::vector<double>> all;
  for (std::int64_t repeat = 1; repeat <= repeats; ++repeat)
    all.push_back(scores_of_repeat(run, rows, repeat));
  const auto [least, most] = std::ranges::minmax_element(all, {}, &std::vector<double>::size);
  RecordedScores result{{}, static_cast<std::int64_t>(least->size())};
  for (std::size_t i = 0; i < most->size() && !least->empty(); ++i) {
    std::vector<double> scores;
    for (const std::vector<double>& repeat : all) scores.push_back(repeat[std::min(i, repeat.size() - 1)]);
    result.by_epoch.push_back(mean(scores));
  }
  return result;
}

HalvedSweep halve(const std::vector<CellRecord>& cells, const std::vector<Rung>& rungs) {
  std::size_t settings = 0;
  for (const CellRecord& cell : cells) settings = std::max(settings, cell.setting + 1);
  std::vector<bool> remains(settings, true);
  HalvedSweep result{
      {}, {}, 1, static_cast<std::int64_t>(rungs.size()) + 1, std::vector<std::int64_t>(cells.size())};
  for (std::size_t i = 0;; ++i, ++result.round) {
    const Rung* const next = i < rungs.size() ? &rungs[i] : nullptr;
    result.cells = round_cells(cells, remains, i > 0 ? &rungs[i - 1] : nullptr, next);
    const bool is_open = std::ranges::any_of(
        result.cells, [&](const RoundCell& at) { return !at.settled && !cells[at.cell].failed; });
    if (!next || is_open) return result;
    const std::vector<double> scores = setting_scores(cells, result.cells, settings);
    const std::vector<std::size_t> best = ranking(scores);
    if (best.empty()) return result;
    std::vector<std::size_t> places(settings, best.size());
    for (std::size_t place = 0; place < best.size(); ++place) places[best[place]] = place;
    for (std::size_t setting = 0; setting < settings; ++setting)
      remains[setting] = places[setting] < std::min(next->kept, best.size());
    for (const RoundCell& at : result.cells) {
      const CellRecord& cell = cells[at.cell];
      const char* const decision = decision_on(cell, at, remains[cell.setting]);
      if (decision == stopped) result.stopped[at.cell] = at.until;
      result.rows.push_back({result.round, cell.name, at.until, score_at(cell, at), scores[cell.setting],
                             static_cast<std::int64_t>(places[cell.setting]) + 1, decision});
    }
  }
}

double most_cost(std::vector<std::vector<double>> costs, const std::vector<Rung>& rungs) {
  // A setting that costs most in total is assumed to be kept.
  std::ranges::stable_sort(costs, std::greater(), [](const auto& of) { return of.back(); });
  double sum = 0;
  for (std::size_t setting = 0; setting < costs.size(); ++setting) {
    std::size_t rung = 0;
    while (rung < rungs.size() && setting < rungs[rung].kept) ++rung;
    sum += costs[setting][rung];
  }
  return sum;
}

Columns<HalvingRow> columns_of(const HalvingRow*) {
  using Row = HalvingRow;
  return {column::count("round", "round, counted from 1", &Row::round, 1),
          column::text("cell", "name of the cell", &Row::cell),
          column::count("epoch", "epoch of the decision", &Row::epoch, 1),
          column::real("score", "validation Dice (or accuracy) of the best weights until then", &Row::score),
          column::real("setting_score", "mean over the cells of the setting", &Row::setting_score),
          column::count("rank", "rank of the setting in the round", &Row::rank, 1),
          column::text("decision", "kept, stopped, finished (early stopping, not kept) or failed",
                       &Row::decision)};
}

}  // namespace voxswap::pipeline
