#include "pipeline/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/boxes.h"

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
      for (const std::string& key : differing(*pair.a, *pair.b, pair.a->told_by))
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

// Grid, region, metric of a box; what two groups must share to be compared.
using Subject = std::tuple<std::string, std::string, std::string>;
using Cases = std::map<std::string, double>;  // a value per case

Cases cases_of(const BoxRow& box) {
  Cases cases;
  for (std::size_t i = 0; i < box.cases.size(); ++i) cases[box.cases[i]] = box.values[i];
  return cases;
}

ComparisonRow compare(const Pair& pair, const Subject& subject, const Cases& a, const Cases& b) {
  ComparisonRow row;
  row.compared = join(pair.compared, "+");
  row.also_differs = join(pair.also, "+");
  row.resolution_a = pair.a->resolution;
  row.setting_a = pair.a->setting;
  row.resolution_b = pair.b->resolution;
  row.setting_b = pair.b->setting;
  std::tie(row.evaluated_at, row.region, row.metric) = subject;
  const auto numbers = [](const Cases& cases) {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [](const auto& entry) { return !std::isnan(entry.second); }));
  };
  double sum_a = 0, sum_b = 0;
  for (const auto& [id, value] : a) {
    const auto other = b.find(id);
    if (other == b.end() || std::isnan(value) || std::isnan(other->second)) continue;
    row.differences.push_back(other->second - value);
    sum_a += value;
    sum_b += other->second;
  }
  const auto n = static_cast<double>(row.differences.size());
  row.unpaired = numbers(a) + numbers(b) - 2 * row.differences.size();
  row.mean_a = sum_a / n;
  row.mean_b = sum_b / n;
  row.difference = metrics::box_statistics(row.differences).mean;
  row.interval = metrics::bootstrap_mean(row.differences);
  row.test = metrics::signed_rank_test(row.differences);
  return row;
}

// The regions of one comparison, grid and metric are one family.
void correct_for_regions(std::vector<ComparisonRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>,
           std::vector<ComparisonRow*>>
      families;
  for (ComparisonRow& row : rows)
    families[{row.resolution_a, row.setting_a, row.resolution_b, row.setting_b, row.evaluated_at, row.metric}]
        .push_back(&row);
  for (auto& [key, family] : families) {
    std::vector<double> p;
    for (const ComparisonRow* row : family) p.push_back(row->test.p);
    const std::vector<double> corrected = metrics::holm(p);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = corrected[i];
  }
}

}  // namespace

std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows) {
  const std::vector<BoxRow> boxes = box_rows(rows, groups);
  const auto belongs = [](const BoxRow& box, const RunGroup& group) {
    return box.resolution == group.resolution && box.setting == group.setting;
  };
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
  correct_for_regions(result);
  return result;
}

const std::vector<CsvColumn>& comparison_columns() {
  static const std::vector<CsvColumn> columns = {
      {"compared", "keys in which groups a and b differ"},
      {"also_differs", "other keys that differ and may explain the difference"},
      {"resolution_a", "resolution of group a"},
      {"setting_a", "setting of group a"},
      {"resolution_b", "resolution of group b"},
      {"setting_b", "setting of group b"},
      {"evaluated_at", "grid of the scores: native, training or a side"},
      {"region", "label or region"},
      {"metric", "name of the metric"},
      {"n", "cases with a score in both groups"},
      {"unpaired", "cases with a score in one group only"},
      {"mean_a", "mean of group a over these cases"},
      {"mean_b", "mean of group b over these cases"},
      {"mean_difference", "mean of b - a"},
      {"interval_low", "lower end of the 95 % bootstrap interval (BCa)"},
      {"interval_high", "upper end of the interval"},
      {"zeros", "cases without a difference"},
      {"rank_sum_positive", "signed-rank sum of positive differences"},
      {"rank_sum_negative", "signed-rank sum of negative differences"},
      {"test", "distribution of the Wilcoxon signed-rank test: exact or approximate"},
      {"p", "two-sided p-value"},
      {"p_holm", "p-value, Holm-corrected for the regions of one comparison"}};
  return columns;
}

Csv comparison_csv(const std::vector<ComparisonRow>& rows) {
  Csv csv{header_of(comparison_columns()), {}};
  for (const ComparisonRow& row : rows) {
    csv.rows.push_back({row.compared,
                        row.also_differs,
                        row.resolution_a,
                        row.setting_a,
                        row.resolution_b,
                        row.setting_b,
                        row.evaluated_at,
                        row.region,
                        row.metric,
                        std::to_string(row.differences.size()),
                        std::to_string(row.unpaired),
                        number(row.mean_a),
                        number(row.mean_b),
                        number(row.difference),
                        number(row.interval.low),
                        number(row.interval.high),
                        std::to_string(row.test.zeros),
                        number(row.test.rank_sum_positive),
                        number(row.test.rank_sum_negative),
                        row.test.exact ? "exact" : "approximate",
                        number(row.test.p),
                        number(row.p_holm)});
  }
  return csv;
}

}  // namespace voxswap::pipeline
