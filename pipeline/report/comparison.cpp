#include "pipeline/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/keys.h"
#include "base/text.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t few_groups = 4;

std::vector<std::string> differing(const RunGroup& a, const RunGroup& b,
                                   const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    if (a.keys.at(key) != b.keys.at(key)) names.push_back(key);
  }
  return names;
}

struct Pair {
  const RunGroup *a, *b;
  std::vector<std::string> compared, also;
};

std::vector<Pair> pairs_of(const std::vector<RunGroup>& groups) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      Pair pair{&groups[i], &groups[j], {}, {}};
      if (pair.a->resolution != pair.b->resolution) pair.compared.push_back(key::preprocess_resolution);
      for (const std::string& key : differing(*pair.a, *pair.b, pair.a->distinguishing_keys))
        pair.compared.push_back(key);
      if (pair.compared.size() > 1 && groups.size() > few_groups) continue;
      for (const auto& [key, value] : pair.a->keys) {
        const bool named = std::find(pair.compared.begin(), pair.compared.end(), key) != pair.compared.end();
        if (!named && value != pair.b->keys.at(key)) pair.also.push_back(key);
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

// Grid, region and metric of a box; groups are compared per subject.
using Subject = std::tuple<std::string, std::string, std::string>;
using Cases = std::map<std::string, double>;  // value by case

Cases cases_of(const BoxRow& box) {
  Cases cases;
  for (std::size_t i = 0; i < box.cases.size(); ++i)
    if (!std::isnan(box.values[i])) cases[box.cases[i]] = box.values[i];
  return cases;
}

bool belongs(const BoxRow& box, const RunGroup& group) {
  return box.resolution == group.resolution && box.setting == group.setting;
}

ComparisonRow compare(const Pair& pair, const Subject& subject, const Cases& a, const Cases& b) {
  std::vector<double> differences;
  double sum_a = 0, sum_b = 0;
  for (const auto& [id, value] : a) {
    const auto other = b.find(id);
    if (other == b.end()) continue;
    differences.push_back(other->second - value);
    sum_a += value;
    sum_b += other->second;
  }
  ComparisonRow row;
  static_cast<Paired&>(row) = Paired(std::move(differences));
  row.compared = join(pair.compared, "+");
  row.also_differs = join(pair.also, "+");
  row.resolution_a = pair.a->resolution;
  row.setting_a = pair.a->setting;
  row.resolution_b = pair.b->resolution;
  row.setting_b = pair.b->setting;
  std::tie(row.evaluated_at, row.region, row.metric) = subject;
  const auto n = static_cast<double>(row.differences.size());
  row.unpaired = a.size() + b.size() - 2 * row.differences.size();
  row.mean_a = sum_a / n;
  row.mean_b = sum_b / n;
  return row;
}

void correct(const std::vector<Paired*>& family) {
  std::vector<double> p;
  for (const Paired* one : family) p.push_back(one->test.p);
  const std::vector<double> corrected = metrics::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = corrected[i];
}

}  // namespace

Paired::Paired(std::vector<double> of)
    : differences(std::move(of)),
      difference(metrics::box_statistics(differences).mean),
      interval(metrics::bootstrap_mean(differences)),
      test(metrics::signed_rank_test(differences)) {}

std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows) {
  const std::vector<BoxRow> boxes = box_rows(rows, groups);
  std::vector<ComparisonRow> result;
  for (const Pair& pair : pairs_of(groups)) {
    std::map<Subject, const BoxRow*> of_b;
    for (const BoxRow& box : boxes) {
      if (belongs(box, *pair.b)) of_b[{box.evaluated_at, box.region, box.metric}] = &box;
    }
    for (const BoxRow& box : boxes) {
      const Subject subject{box.evaluated_at, box.region, box.metric};
      const auto other = of_b.find(subject);
      if (!belongs(box, *pair.a) || other == of_b.end()) continue;
      ComparisonRow row = compare(pair, subject, cases_of(box), cases_of(*other->second));
      if (!row.differences.empty()) result.push_back(std::move(row));
    }
  }
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>,
           std::vector<Paired*>>
      families;
  for (ComparisonRow& row : result)
    families[{row.resolution_a, row.setting_a, row.resolution_b, row.setting_b, row.evaluated_at, row.metric}]
        .push_back(&row);
  for (const auto& [key, family] : families) correct(family);
  return result;
}

template <>
const Columns<ComparisonRow>& columns<ComparisonRow>() {
  using Row = ComparisonRow;
  using namespace column;
  static const Columns<Row> list = {
      text("compared", "keys in which groups a and b differ", &Row::compared),
      text("also_differs", "other keys that differ and may explain the difference", &Row::also_differs),
      text("resolution_a", "resolution of group a", &Row::resolution_a),
      text("setting_a", "setting of group a", &Row::setting_a),
      text("resolution_b", "resolution of group b", &Row::resolution_b),
      text("setting_b", "setting of group b", &Row::setting_b),
      grid<Row>(),
      text("region", "label or region", &Row::region),
      text("metric", "name of the metric", &Row::metric),
      {"n", "cases with a score in both groups",
       [](const Row& row) { return std::to_string(row.differences.size()); }},
      {"unpaired", "cases with a score in one group only",
       [](const Row& row) { return std::to_string(row.unpaired); }},
      real("mean_a", "mean of group a over these cases", &Row::mean_a),
      real("mean_b", "mean of group b over these cases", &Row::mean_b),
      real<Row>("mean_difference", "mean of b - a", &Row::difference),
      part<Row, metrics::Interval>("interval_low", "lower end of the 95 % bootstrap interval (BCa)",
                                   &Row::interval, &metrics::Interval::low),
      part<Row, metrics::Interval>("interval_high", "upper end of the interval", &Row::interval,
                                   &metrics::Interval::high),
      part<Row, metrics::SignedRankTest>("zeros", "cases without a difference", &Row::test,
                                         &metrics::SignedRankTest::zeros),
      part<Row, metrics::SignedRankTest>("rank_sum_positive", "signed-rank sum of positive differences",
                                         &Row::test, &metrics::SignedRankTest::rank_sum_positive),
      part<Row, metrics::SignedRankTest>("rank_sum_negative", "signed-rank sum of negative differences",
                                         &Row::test, &metrics::SignedRankTest::rank_sum_negative),
      {"test", "distribution of the Wilcoxon signed-rank test: exact or approximate",
       [](const Row& row) { return row.test.exact ? "exact" : "approximate"; }},
      part<Row, metrics::SignedRankTest>("p", "two-sided p-value", &Row::test, &metrics::SignedRankTest::p),
      real<Row>("p_holm", "p-value, Holm-corrected for the regions of one comparison", &Row::p_holm)};
  return list;
}

namespace {

constexpr double worth_an_ensemble = 5e-4;  // in mean Dice

using Regions = std::map<std::string, Cases>;  // scores of one group

std::map<std::size_t, Regions> scores_of(const std::vector<RunGroup>& groups,
                                         const std::vector<DiceRow>& rows, const std::string& grid) {
  std::map<std::size_t, Regions> scores;
  for (const BoxRow& box : box_rows(rows, groups)) {
    if (box.metric != "dice" || box.evaluated_at != grid) continue;
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const RunGroup& of) { return belongs(box, of); });
    scores[static_cast<std::size_t>(group - groups.begin())][box.region] = cases_of(box);
  }
  return scores;
}

// Regions that all groups have, in the order of the table.
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

// Per case that both groups scored, the mean difference over regions.
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
  std::vector<Paired*> family;
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    Paired& group = ranked[i];
    group = Paired(differences_of(scores.at(ranked[0].group), scores.at(ranked[i].group), regions));
    family.push_back(&group);
  }
  correct(family);
}

}  // namespace

Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows, std::size_t ensembles) {
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
  const auto single = std::find_if(ranking.groups.begin(), ranking.groups.end(), [&](const RankedGroup& one) {
    return one.group < groups.size() - ensembles;
  });
  if (single != ranking.groups.end() && ranking.groups.front().dice - single->dice < worth_an_ensemble)
    std::rotate(ranking.groups.begin(), single, single + 1);
  compare_with_best(ranking.groups, scores, ranking.regions);
  return ranking;
}

bool is_significant(const Paired& difference, std::size_t family) {
  constexpr double doubt = 0.05;
  const double least = 2 * std::pow(0.5, static_cast<double>(difference.test.n));  // of the signed-rank test
  return least * static_cast<double>(family) < doubt && difference.p_holm < doubt &&
         (difference.interval.low > 0 || difference.interval.high < 0);
}

}  // namespace voxswap::pipeline
