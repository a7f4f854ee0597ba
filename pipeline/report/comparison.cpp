#include "pipeline/report/comparison.h"

#include <cmath>
#include <map>
#include <tuple>

#include "base/keys.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

// Metrics with a box: dice, sensitivity and specificity always, others if any row has a value.
std::vector<std::string> boxed_metrics(const std::vector<DiceRow>& rows) {
  std::vector<std::string> names{"dice", "sensitivity", "specificity"};
  for (const std::string& name : metrics::metric_names())
    if (std::ranges::any_of(rows, [&](const DiceRow& row) { return !std::isnan(metric_value(row, name)); }))
      place_in(names, name);
  return names;
}

// NaN if a repeat has no value: the mean of the others would hide that it missed the region or, where the
// ground truth lacks it, let the only repeat that predicts it decide.
double mean_score(const std::vector<const DiceRow*>& repeats, const std::string& metric) {
  std::vector<double> values;
  for (const DiceRow* row : repeats) values.push_back(metric_value(*row, metric));
  return metrics::mean(values);
}

// The rows of one resolution, setting, grid and region, grouped by case in order of appearance.
struct Group {
  BoxRow box;
  std::vector<std::vector<const DiceRow*>> rows;
};

}  // namespace

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& of) {
  std::vector<std::string> grids, regions;
  std::map<std::tuple<double, std::string, std::size_t, std::size_t, std::size_t>, Group> groups;
  for (const DiceRow& row : rows) {
    const std::size_t order = of.empty() ? 0 : group_of(of, row.run, row.resolution);
    Group& group = groups[{resolution_voxels(row.resolution), row.resolution, order,
                           place_in(grids, row.evaluated_at), place_in(regions, row.region)}];
    group.box.resolution = row.resolution;
    group.box.setting = of.empty() ? "" : of[order].setting;
    group.box.evaluated_at = row.evaluated_at;
    group.box.region = row.region;
    const std::size_t at = place_in(group.box.cases, of.empty() ? row.run + "\n" + row.case_id : row.case_id);
    group.rows.resize(group.box.cases.size());
    group.rows[at].push_back(&row);
  }
  const std::vector<std::string> names = boxed_metrics(rows);
  std::vector<BoxRow> boxes;
  for (const auto& [key, group] : groups)
    for (const std::string& metric : names) {
      BoxRow& box = boxes.emplace_back(group.box);
      box.metric = metric;
      for (const auto& repeats : group.rows) box.values.push_back(mean_score(repeats, metric));
      box.statistics = metrics::box_statistics(box.values);
    }
  return boxes;
}

namespace {

constexpr std::size_t few_groups = 4;

// Grid, region and metric of a box; groups are compared per subject.
using Subject = std::tuple<std::string, std::string, std::string>;
using Cases = std::map<std::string, double>;  // value by case, of those that have one

// The scores of a group, in the order of its boxes.
struct Scores {
  std::vector<std::pair<Subject, Cases>> all;
  const Cases* find(const Subject& subject) const {  // null if there are none
    const auto found = std::ranges::find(all, subject, &std::pair<Subject, Cases>::first);
    return found == all.end() ? nullptr : &found->second;
  }
};

std::vector<Scores> scores_of(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows) {
  std::vector<Scores> scores(groups.size());
  for (const BoxRow& box : box_rows(rows, groups)) {
    Cases cases;
    for (std::size_t i = 0; i < box.cases.size(); ++i)
      if (!std::isnan(box.values[i])) cases[box.cases[i]] = box.values[i];
    scores[group_with(groups, box.resolution, box.setting)].all.push_back(
        {{box.evaluated_at, box.region, box.metric}, std::move(cases)});
  }
  return scores;
}

struct Pair {
  std::size_t a, b;                             // groups
  std::vector<std::string> compared{}, also{};  // keys that differ
};

std::vector<Pair> pairs_of(const std::vector<RunGroup>& groups) {
  constexpr std::size_t few_groups = 4;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      const RunGroup &a = groups[i], &b = groups[j];
      Pair pair{i, j};
      if (a.resolution != b.resolution) pair.compared.push_back(key::preprocess_resolution);
      for (const auto& [key, value] : a.keys)
        if (value != b.keys.at(key))
          (is_among(key, a.distinguishing_keys) ? pair.compared : pair.also).push_back(key);
      if (pair.compared.size() < 2 || groups.size() <= few_groups) pairs.push_back(std::move(pair));
    }
  return pairs;
}

ComparisonRow compare(const Subject& subject, const Cases& a, const Cases& b) {
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
  std::tie(row.evaluated_at, row.region, row.metric) = subject;
  const auto n = static_cast<double>(row.differences.size());
  row.unpaired = a.size() + b.size() - 2 * row.differences.size();
  row.mean_a = sum_a / n;
  row.mean_b = sum_b / n;
  return row;
}

}  // namespace

void correct(const std::vector<Paired*>& family) {
  std::vector<double> p;
  for (const Paired* one : family) p.push_back(one->test.p);
  const std::vector<double> corrected = metrics::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = corrected[i];
}

Paired::Paired(std::vector<double> of)
    : differences(std::move(of)),
      difference(metrics::box_statistics(differences).mean),
      interval(metrics::bootstrap_mean(differences)),
      test(metrics::signed_rank_test(differences)) {}

std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows) {
  const std::vector<Scores> scores = scores_of(groups, rows);
  std::vector<ComparisonRow> result;
  for (const Pair& pair : pairs_of(groups)) {
    std::vector<ComparisonRow> of_pair;
    for (const auto& [subject, cases] : scores[pair.a].all) {
      const Cases* const other = scores[pair.b].find(subject);
      const bool has_other_truth =
          std::get<0>(subject) == "training" && groups[pair.a].resolution != groups[pair.b].resolution;
      if (!other || has_other_truth) continue;
      ComparisonRow row = compare(subject, cases, *other);
      row.compared = join(pair.compared, "+");
      row.also_differs = join(pair.also, "+");
      row.resolution_a = groups[pair.a].resolution;
      row.setting_a = groups[pair.a].setting;
      row.resolution_b = groups[pair.b].resolution;
      row.setting_b = groups[pair.b].setting;
      if (!row.differences.empty()) of_pair.push_back(std::move(row));
    }
    std::map<std::pair<std::string, std::string>, std::vector<Paired*>> families;
    for (ComparisonRow& row : of_pair) families[{row.evaluated_at, row.metric}].push_back(&row);
    for (const auto& [key, family] : families) correct(family);
    append(result, of_pair);
  }
  return result;
}

Columns<ComparisonRow> columns_of(const ComparisonRow*) {
  using Row = ComparisonRow;
  using namespace column;
  return {
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
}

bool is_significant(const Paired& difference, std::size_t family) {
  constexpr double doubt = 0.05;
  const double least = 2 * std::pow(0.5, static_cast<double>(difference.test.n));  // of the signed-rank test
  return least * static_cast<double>(family) < doubt && difference.p_holm < doubt &&
         (difference.interval.low > 0 || difference.interval.high < 0);
}

}  // namespace voxswap::pipeline
