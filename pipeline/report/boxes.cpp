// Box statistics of dice.csv. The repeats of a run are averaged per case, so that they do not count as
// additional cases.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "metrics/metrics.h"
#include "pipeline/report/comparison.h"

namespace voxswap::pipeline {

namespace {

// Metrics with a box: dice, sensitivity and specificity always, others if any row has a value.
std::vector<std::string> boxed_metrics(const std::vector<DiceRow>& rows) {
  std::vector<std::string> names{"dice", "sensitivity", "specificity"};
  for (const std::string& name : metrics::metric_names()) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    const bool scored = std::any_of(rows.begin(), rows.end(),
                                    [&](const DiceRow& row) { return !std::isnan(metric_value(row, name)); });
    if (scored && !listed) names.push_back(name);
  }
  return names;
}

// Mean over repeats with a score; NaN if there are none.
double mean_of(const std::vector<const DiceRow*>& repeats, const std::string& metric) {
  double sum = 0, count = 0;
  for (const DiceRow* row : repeats)
    if (const double value = metric_value(*row, metric); !std::isnan(value)) sum += value, ++count;
  return count > 0 ? sum / count : std::nan("");
}

// The rows of one resolution, setting, grid and region, grouped by case in order of appearance.
struct Group {
  BoxRow box;
  std::vector<std::vector<const DiceRow*>> rows;
};

std::size_t place(std::vector<std::string>& seen, const std::string& wanted) {
  const auto found = std::find(seen.begin(), seen.end(), wanted);
  if (found != seen.end()) return static_cast<std::size_t>(found - seen.begin());
  seen.push_back(wanted);
  return seen.size() - 1;
}

// Resolutions from coarse to fine; settings, grids and regions in order of appearance. `group_of`: index and
// setting of a row's group; `name_of`: name of its case within the group.
template <class GroupOf, class NameOf>
std::vector<BoxRow> boxes_of(const std::vector<DiceRow>& rows, const GroupOf& group_of,
                             const NameOf& name_of) {
  std::vector<std::string> grids, regions;
  std::map<std::tuple<double, std::string, std::size_t, std::size_t, std::size_t>, Group> groups;
  for (const DiceRow& row : rows) {
    const auto [order, setting] = group_of(row);
    Group& group = groups[{resolution_voxels(row.resolution), row.resolution, order,
                           place(grids, row.evaluated_at), place(regions, row.region)}];
    group.box.resolution = row.resolution;
    group.box.setting = setting;
    group.box.evaluated_at = row.evaluated_at;
    group.box.region = row.region;
    const std::size_t at = place(group.box.cases, name_of(row));
    group.rows.resize(group.box.cases.size());
    group.rows[at].push_back(&row);
  }
  const std::vector<std::string> names = boxed_metrics(rows);
  std::vector<BoxRow> boxes;
  for (const auto& [key, group] : groups)
    for (const std::string& metric : names) {
      BoxRow& box = boxes.emplace_back(group.box);
      box.metric = metric;
      for (const auto& repeats : group.rows) box.values.push_back(mean_of(repeats, metric));
      box.statistics = metrics::box_statistics(box.values);
    }
  return boxes;
}

}  // namespace

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows) {
  return boxes_of(
      rows, [](const DiceRow&) { return std::pair(std::size_t{0}, std::string()); },
      [](const DiceRow& row) { return row.run + "\n" + row.case_id; });
}

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& groups) {
  return boxes_of(
      rows,
      [&](const DiceRow& row) {
        const std::size_t group = group_of(groups, row.run, row.resolution);
        return std::pair(group, groups[group].setting);
      },
      [](const DiceRow& row) { return row.case_id; });
}

}  // namespace voxswap::pipeline
