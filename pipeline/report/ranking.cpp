#include "pipeline/report/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using DiceOfGroups = std::vector<std::vector<double>>;

// A region of a case: its Dice by group and repeat. NaN: scored without a value; nothing: not scored.
struct Scored {
  std::string case_id, region;
  DiceOfGroups dice;
  bool is_present = false;  // in the truth
};

bool has_value(const std::vector<double>& repeats) {
  return !std::isnan(metrics::mean(repeats));
}

bool has_any_value(const std::vector<double>& repeats) {
  return std::ranges::any_of(repeats, [](double dice) { return !std::isnan(dice); });
}

// The grid of the images or, if no run was scored there, the first one with equal ground truths.
std::string grid_to_rank(const std::vector<DiceRow>& rows) {
  const std::vector<std::string> grids = distinct(rows, &DiceRow::evaluated_at);
  if (is_among("native", grids)) return "native";
  const auto found = std::ranges::find_if(grids, [](const std::string& grid) { return grid != "training"; });
  return found == grids.end() ? "training" : *found;
}

std::vector<Scored> scored_regions(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows,
                                   const std::string& grid) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<Scored> all;
  for (const DiceRow& row : rows) {
    if (row.evaluated_at != grid) continue;
    const auto [place, fresh] = places.try_emplace({row.case_id, row.region}, all.size());
    if (fresh) all.push_back({row.case_id, row.region, DiceOfGroups(groups.size())});
    Scored& one = all[place->second];
    one.dice[group_of(groups, row.run, row.resolution)].push_back(row.dice);
    one.is_present = one.is_present || row.truth_voxels > 0;
  }
  return all;
}

// The regions of cases that every one of `groups` scored. If the truth lacks a region and only some repeats
// predict it, the Dice of the other repeats is missing and counts as 1. If the truth has the region, a
// missing Dice stays missing.
std::vector<Scored> shared_by(const std::vector<std::size_t>& groups, const std::vector<Scored>& all,
                              Ranking& ranking) {
  std::vector<Scored> shared;
  std::set<std::string> cases, shared_cases;
  for (Scored one : all) {
    if (std::ranges::none_of(groups, [&](std::size_t group) { return has_any_value(one.dice[group]); }))
      continue;
    cases.insert(one.case_id);
    bool replaced = false;
    for (const std::size_t group : groups)
      for (double& dice : one.dice[group])
        if (std::isnan(dice) && !one.is_present) {
          dice = 1;
          replaced = true;
        }
    if (!std::ranges::all_of(groups, [&](std::size_t group) { return has_value(one.dice[group]); })) continue;
    shared_cases.insert(one.case_id);
    ranking.has_absent_regions = ranking.has_absent_regions || replaced;
    shared.push_back(std::move(one));
  }
  ranking.unshared_cases = shared.empty() ? 0 : cases.size() - shared_cases.size();
  return shared;
}

// Without regions for which one of `groups` has no Dice in any case.
std::vector<Scored> of_common_regions(const std::vector<std::size_t>& groups, std::vector<Scored> all) {
  std::map<std::string, std::set<std::size_t>> scored_in;  // by region
  for (const Scored& one : all)
    for (const std::size_t group : groups)
      if (has_value(one.dice[group])) scored_in[one.region].insert(group);
  std::erase_if(all, [&](const Scored& one) { return scored_in[one.region].size() < groups.size(); });
  return all;
}

// By case, the mean over its regions.
std::map<std::string, double> case_scores(const std::vector<Scored>& all, std::size_t group) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const Scored& one : all) {
    if (!has_value(one.dice[group])) continue;
    sums[one.case_id].first += metrics::mean(one.dice[group]);
    ++sums[one.case_id].second;
  }
  std::map<std::string, double> scores;
  for (const auto& [id, sum] : sums) scores[id] = sum.first / sum.second;
  return scores;
}

// Compares each group with the best one. Every pair of groups is tested, since any group could have been the
// best.
void compare_all(const std::vector<std::map<std::string, double>>& scores, Ranking& ranking) {
  std::vector<RankedGroup>& groups = ranking.groups;
  std::vector<double> p;  // of the best group and each other one, then of the other pairs
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      std::vector<double> differences;
      for (const auto& [id, score] : scores[groups[a].group])
        differences.push_back(score - scores[groups[b].group].at(id));
      p.push_back(metrics::signed_rank_test(differences).p);
      if (a == 0) static_cast<Paired&>(groups[b]) = Paired(std::move(differences));
    }
  ranking.tests = p.size();
  const std::vector<double> corrected = metrics::holm(p);
  for (std::size_t b = 1; b < groups.size(); ++b) groups[b].p_holm = corrected[b - 1];
}

}  // namespace

Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows, std::size_t ensembles) {
  constexpr double worth_an_ensemble = 5e-4;  // in mean Dice
  Ranking ranking;
  if (rows.empty()) return ranking;
  ranking.grid = grid_to_rank(rows);
  const std::vector<Scored> all = scored_regions(groups, rows, ranking.grid);
  std::vector<std::size_t> scored;  // groups
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (std::ranges::any_of(all, [&](const Scored& one) { return !one.dice[group].empty(); }))
      scored.push_back(group);
  const auto resolution_of = [&](std::size_t group) { return groups[group].resolution; };
  ranking.has_other_truths = ranking.grid == "training" && distinct(scored, resolution_of).size() > 1;
  if (ranking.has_other_truths) return ranking;
  const std::vector<Scored> shared = shared_by(scored, all, ranking),
                            ranked = shared.empty() ? of_common_regions(scored, all) : shared;
  if (ranked.empty()) return ranking;
  for (const std::string& region : distinct(rows, &DiceRow::region))
    if (std::ranges::find(ranked, region, &Scored::region) != ranked.end()) ranking.regions.push_back(region);
  std::vector<std::map<std::string, double>> scores(groups.size());
  for (const std::size_t group : scored) {
    scores[group] = case_scores(ranked, group);
    RankedGroup& added = ranking.groups.emplace_back();
    added.group = group;
    added.cases = scores[group].size();
    added.dice = mean_of(scores[group], [](const auto& score) { return score.second; });
  }
  std::ranges::stable_sort(ranking.groups, std::greater(), &RankedGroup::dice);
  const auto single = std::ranges::find_if(
      ranking.groups, [&](const RankedGroup& one) { return one.group < groups.size() - ensembles; });
  if (single != ranking.groups.end() && ranking.groups.front().dice - single->dice < worth_an_ensemble)
    std::rotate(ranking.groups.begin(), single, single + 1);
  if (shared.empty()) return ranking;
  compare_all(scores, ranking);
  return ranking;
}

}  // namespace voxswap::pipeline
