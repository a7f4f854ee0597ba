// Box statistics of dice.csv: a model trained several times answers once per case, with the mean of its
// answers, so that repeats do not count as cases (as in the study).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "metrics/metrics.h"
#include "pipeline/tables.h"

namespace voxswap {

namespace {

// The metrics that have a box: three even when they were never asked for, the others where any row has a
// number.
std::vector<std::string> boxed_metrics(const std::vector<DiceRow>& rows) {
  std::vector<std::string> names{"dice", "sensitivity", "specificity"};
  for (const std::string& name : metric_names()) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    const bool scored = std::any_of(rows.begin(), rows.end(),
                                    [&](const DiceRow& row) { return !std::isnan(metric_value(row, name)); });
    if (scored && !listed) names.push_back(name);
  }
  return names;
}

// Mean over the repeats that scored; NaN when none did.
struct Mean {
  double sum = 0;
  int n = 0;
  void add(double value) {
    if (std::isnan(value)) return;
    sum += value;
    ++n;
  }
  double value() const { return n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN(); }
};

// The rows of one box: same resolution, grid and region.
struct Group {
  std::string resolution, evaluated_at, region;
  std::vector<const DiceRow*> rows;
};

// Resolutions from coarse to fine; grids and regions in the order in which they first appear.
std::vector<Group> groups(const std::vector<DiceRow>& rows) {
  std::vector<std::string> grids, regions;
  const auto place = [](std::vector<std::string>& seen, const std::string& name) {
    const auto found = std::find(seen.begin(), seen.end(), name);
    if (found != seen.end()) return found - seen.begin();
    seen.push_back(name);
    return static_cast<std::ptrdiff_t>(seen.size()) - 1;
  };
  std::map<std::tuple<double, std::string, std::ptrdiff_t, std::ptrdiff_t>, Group> ordered;
  for (const DiceRow& row : rows) {
    const auto grid = place(grids, row.evaluated_at), region = place(regions, row.region);
    Group& group = ordered[{resolution_voxels(row.resolution), row.resolution, grid, region}];
    group.resolution = row.resolution;
    group.evaluated_at = row.evaluated_at;
    group.region = row.region;
    group.rows.push_back(&row);
  }
  std::vector<Group> result;
  for (auto& [key, group] : ordered) result.push_back(std::move(group));
  return result;
}

// One value per run and case, in the order in which they first appear.
std::vector<double> case_means(const Group& group, const std::string& metric) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<Mean> means;
  for (const DiceRow* row : group.rows) {
    const auto [found, fresh] = places.try_emplace({row->run, row->case_id}, means.size());
    if (fresh) means.emplace_back();
    means[found->second].add(metric_value(*row, metric));
  }
  std::vector<double> values;
  for (const Mean& mean : means) values.push_back(mean.value());
  return values;
}

}  // namespace

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows) {
  const std::vector<std::string> metrics = boxed_metrics(rows);
  std::vector<BoxRow> boxes;
  for (const Group& group : groups(rows)) {
    for (const std::string& metric : metrics) {
      BoxRow& box = boxes.emplace_back();
      box.resolution = group.resolution;
      box.evaluated_at = group.evaluated_at;
      box.region = group.region;
      box.metric = metric;
      box.values = case_means(group, metric);
      box.statistics = box_statistics(box.values);
    }
  }
  return boxes;
}

}  // namespace voxswap
