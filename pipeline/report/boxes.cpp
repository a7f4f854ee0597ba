// Box statistics of dice.csv: a model trained several times answers once per case, with the mean of its
// answers, so that repeats do not count as cases (as in the study).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "metrics/metrics.h"
#include "pipeline/report/comparison.h"

namespace voxswap::pipeline {

namespace {

// The metrics that have a box: three even when they were never asked for, the others where any row has a
// number.
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

// The rows of one box: same resolution, setting, grid and region.
struct Group {
  std::string resolution, setting, evaluated_at, region;
  std::vector<const DiceRow*> rows;
  std::vector<std::string> cases;  // of each row: rows of one name are answers to one case
};

template <class T>
std::size_t place(std::vector<T>& seen, const T& wanted) {
  const auto found = std::find(seen.begin(), seen.end(), wanted);
  if (found != seen.end()) return static_cast<std::size_t>(found - seen.begin());
  seen.push_back(wanted);
  return seen.size() - 1;
}

// Where a row belongs: the setting of its group and what its case is called there.
struct Belonging {
  std::size_t order = 0;
  std::string setting, case_id;
};

// Resolutions from coarse to fine; settings, grids and regions in the order in which they first appear.
template <class Belongs>
std::vector<Group> groups_of(const std::vector<DiceRow>& rows, const Belongs& belongs) {
  std::vector<std::string> grids, regions;
  std::map<std::tuple<double, std::string, std::size_t, std::size_t, std::size_t>, Group> ordered;
  for (const DiceRow& row : rows) {
    const Belonging to = belongs(row);
    const std::size_t grid = place(grids, row.evaluated_at), region = place(regions, row.region);
    Group& group = ordered[{resolution_voxels(row.resolution), row.resolution, to.order, grid, region}];
    group.resolution = row.resolution;
    group.setting = to.setting;
    group.evaluated_at = row.evaluated_at;
    group.region = row.region;
    group.rows.push_back(&row);
    group.cases.push_back(to.case_id);
  }
  std::vector<Group> result;
  for (auto& [key, group] : ordered) result.push_back(std::move(group));
  return result;
}

// One value per case, in the order in which they first appear.
void set_values(BoxRow& box, const Group& group) {
  std::map<std::string, std::size_t> places;
  std::vector<Mean> means;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const auto [found, fresh] = places.try_emplace(group.cases[i], means.size());
    if (fresh) {
      means.emplace_back();
      box.cases.push_back(group.cases[i]);
    }
    means[found->second].add(metric_value(*group.rows[i], box.metric));
  }
  for (const Mean& mean : means) box.values.push_back(mean.value());
}

std::vector<BoxRow> boxes_of(const std::vector<Group>& groups, const std::vector<std::string>& metrics) {
  std::vector<BoxRow> boxes;
  for (const Group& group : groups) {
    for (const std::string& metric : metrics) {
      BoxRow& box = boxes.emplace_back();
      box.resolution = group.resolution;
      box.setting = group.setting;
      box.evaluated_at = group.evaluated_at;
      box.region = group.region;
      box.metric = metric;
      set_values(box, group);
      box.statistics = metrics::box_statistics(box.values);
    }
  }
  return boxes;
}

}  // namespace

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows) {
  const auto belongs = [](const DiceRow& row) { return Belonging{0, "", row.run + "\n" + row.case_id}; };
  return boxes_of(groups_of(rows, belongs), boxed_metrics(rows));
}

std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& groups) {
  const auto belongs = [&](const DiceRow& row) {
    const std::size_t group = group_of(groups, row.run, row.resolution);
    return Belonging{group, groups[group].setting, row.case_id};
  };
  return boxes_of(groups_of(rows, belongs), boxed_metrics(rows));
}

}  // namespace voxswap::pipeline
