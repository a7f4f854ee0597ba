#include "pipeline/report/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "pipeline/report/boxes.h"

namespace voxswap::pipeline {

namespace {

using Cases = std::map<std::string, double>;   // Dice per case
using Regions = std::map<std::string, Cases>;  // of one group

std::map<std::size_t, Regions> scores_of(const std::vector<RunGroup>& groups,
                                         const std::vector<DiceRow>& rows, const std::string& grid) {
  std::map<std::size_t, Regions> scores;
  for (const BoxRow& box : box_rows(rows, groups)) {
    if (box.metric != "dice" || box.evaluated_at != grid) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const RunGroup& of) {
      return of.resolution == box.resolution && of.setting == box.setting;
    });
    Cases& cases = scores[static_cast<std::size_t>(group - groups.begin())][box.region];
    for (std::size_t i = 0; i < box.cases.size(); ++i) {
      if (!std::isnan(box.values[i])) cases[box.cases[i]] = box.values[i];
    }
  }
  return scores;
}

// In the order of the table.
std::vector<std::string> common_regions(const std::map<std::size_t, Regions>& scores,
                                        const std::vector<DiceRow>& rows) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const DiceRow& row : rows) {
    const bool everywhere = std::all_of(scores.begin(), scores.end(), [&](const auto& entry) {
      const auto found = entry.second.find(row.region);
      return found != entry.second.end() && !found->second.empty();
    });
    if (everywhere && seen.insert(row.region).second) names.push_back(row.region);
  }
  return names;
}

double mean_of(const Cases& cases) {
  double sum = 0;
  for (const auto& [id, dice] : cases) sum += dice;
  return sum / static_cast<double>(cases.size());
}

// Of the cases that both have a number for, over the regions where they do.
std::vector<double> differences_of(const Regions& best, const Regions& other,
                                   const std::vector<std::string>& regions) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const std::string& region : regions) {
    const Cases& cases = other.at(region);
    for (const auto& [id, dice] : best.at(region)) {
      const auto found = cases.find(id);
      if (found == cases.end()) continue;
      sums[id].first += dice - found->second;
      ++sums[id].second;
    }
  }
  std::vector<double> differences;
  for (const auto& [id, sum] : sums) differences.push_back(sum.first / sum.second);
  return differences;
}

void compare_with_best(std::vector<RankedGroup>& ranked, const std::map<std::size_t, Regions>& scores,
                       const std::vector<std::string>& regions) {
  std::vector<double> p;
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    RankedGroup& group = ranked[i];
    group.differences = differences_of(scores.at(ranked[0].group), scores.at(group.group), regions);
    group.difference = metrics::box_statistics(group.differences).mean;
    group.interval = metrics::bootstrap_mean(group.differences);
    group.p = metrics::signed_rank_test(group.differences).p;
    p.push_back(group.p);
  }
  const std::vector<double> corrected = metrics::holm(p);
  for (std::size_t i = 1; i < ranked.size(); ++i) ranked[i].p_holm = corrected[i - 1];
}

}  // namespace

Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows) {
  Ranking ranking;
  if (rows.empty()) return ranking;
  ranking.grid = rows.front().evaluated_at;
  const std::map<std::size_t, Regions> scores = scores_of(groups, rows, ranking.grid);
  ranking.regions = common_regions(scores, rows);
  if (ranking.regions.empty()) return ranking;
  for (const auto& [group, regions] : scores) {
    RankedGroup& ranked = ranking.groups.emplace_back();
    ranked.group = group;
    ranked.cases = regions.at(ranking.regions.front()).size();
    for (const std::string& region : ranking.regions) {
      ranked.cases = std::min(ranked.cases, regions.at(region).size());
      ranked.dice += mean_of(regions.at(region)) / static_cast<double>(ranking.regions.size());
    }
  }
  std::stable_sort(ranking.groups.begin(), ranking.groups.end(),
                   [](const RankedGroup& a, const RankedGroup& b) { return a.dice > b.dice; });
  compare_with_best(ranking.groups, scores, ranking.regions);
  return ranking;
}

std::string worse_than_best(const RankedGroup& group, std::size_t compared) {
  constexpr double doubt = 0.05;
  // The test's p is at least 2 / 2^n, and Holm multiplies the least of them by how many there are.
  const double least = 2 * std::pow(0.5, static_cast<double>(group.differences.size()));
  if (least * static_cast<double>(compared) >= doubt) return "too few cases to tell";
  return group.p_holm < doubt && group.interval.low > 0 ? "yes" : "not shown";
}

}  // namespace voxswap::pipeline
