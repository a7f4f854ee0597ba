#include "pipeline/report/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using DiceOfGroups = std::vector<std::optional<double>>;

// A region of a case: its Dice by group. NaN: scored without a value; nothing: not scored.
struct Scored {
  std::string case_id, region;
  DiceOfGroups dice;
  bool is_present = false;  // in the truth
};

bool has_value(const std::optional<double>& dice) {
  return dice && !std::isnan(*dice);
}

std::vector<Scored> scored_regions(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows,
                                   const std::string& grid) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<Scored> all;
  for (const BoxRow& box : box_rows(rows, groups)) {
    if (box.evaluated_at != grid || box.metric != "dice") continue;
    const std::size_t group = group_with(groups, box.resolution, box.setting);
    for (std::size_t i = 0; i < box.cases.size(); ++i) {
      const auto [place, fresh] = places.try_emplace({box.cases[i], box.region}, all.size());
      if (fresh) all.push_back({box.cases[i], box.region, DiceOfGroups(groups.size())});
      all[place->second].dice[group] = box.values[i];
    }
  }
  for (const DiceRow& row : rows)
    if (const auto place = places.find({row.case_id, row.region});
        place != places.end() && row.truth_voxels > 0)
      all[place->second].is_present = true;
  return all;
}

// The regions of cases that every one of `groups` scored. If the truth lacks a region and only some groups
// predict it, the Dice of the other groups is missing and counts as 1. If the truth has the region, a missing
// Dice stays missing.
std::vector<Scored> shared_by(const std::vector<std::size_t>& groups, const std::vector<Scored>& all,
                              Ranking& ranking) {
  std::vector<Scored> shared;
  std::set<std::string> cases, shared_cases;
  for (Scored one : all) {
    if (std::ranges::none_of(groups, [&](std::size_t group) { return has_value(one.dice[group]); })) continue;
    cases.insert(one.case_id);
    bool replaced = false;
    for (const std::size_t group : groups)
      if (one.dice[group] && !has_value(one.dice[group]) && !one.is_present) {
        one.dice[group] = 1;
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
    sums[one.case_id].first += *one.dice[group];
    ++sums[one.case_id].second;
  }
  std::map<std::string, double> scores;
  for (const auto& [id, sum] : sums) scores[id] = sum.first / sum.second;
  return scores;
}

}  // namespace

Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows, std::size_t ensembles) {
  constexpr double worth_an_ensemble = 5e-4;  // in mean Dice
  Ranking ranking;
  if (rows.empty()) return ranking;
  ranking.grid = rows.front().evaluated_at;
  const std::vector<Scored> all = scored_regions(groups, rows, ranking.grid);
  std::vector<std::size_t> scored;  // groups
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (std::ranges::any_of(all, [&](const Scored& one) { return one.dice[group].has_value(); }))
      scored.push_back(group);
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
  const std::map<std::string, double>& best = scores[ranking.groups[0].group];
  std::vector<Paired*> family;
  for (std::size_t i = 1; i < ranking.groups.size(); ++i) {
    std::vector<double> differences;
    for (const auto& [id, score] : scores[ranking.groups[i].group])
      differences.push_back(best.at(id) - score);
    Paired& group = ranking.groups[i];
    group = Paired(std::move(differences));
    family.push_back(&group);
  }
  correct(family);
  return ranking;
}

}  // namespace voxswap::pipeline
