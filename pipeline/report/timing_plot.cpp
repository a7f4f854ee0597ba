// Epoch and step times by group of runs: seconds, overhead, utilisation, and copy rates.
#include <algorithm>
#include <map>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/chart.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/plots.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

bool varies(const std::vector<RunGroup>& groups, const std::string& prefix) {
  return std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) {
    return std::any_of(group.distinguishing_keys.begin(), group.distinguishing_keys.end(),
                       [&](const std::string& key) { return key.starts_with(prefix); });
  });
}

// The data to plot: what was varied (x axis), the line of each group, and its means over repeats.
struct Timings {
  std::string x_title;
  bool moves = false;
  Csv table{{"x", "setting", "seconds", "overhead", "utilization", "to_host", "to_device"}, {}};
};

Timings timings_of(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups) {
  const bool resolutions = groups.front().resolution != groups.back().resolution;
  const bool link = varies(groups, key::memory_link), budget = varies(groups, key::memory_budget);
  const std::vector<std::string>& distinguishing_keys = groups.front().distinguishing_keys;
  const bool one_key = distinguishing_keys.size() == 1;  // the axis title names it
  Timings result;
  result.x_title = resolutions ? "voxels per side"
                   : link      ? "link to the host, GB/s"
                   : budget    ? "budget, GiB"
                   : one_key   ? heading_of(distinguishing_keys.front())
                               : "";
  std::map<std::size_t, std::vector<TimingRow>> by_group;
  for (const TimingRow& row : rows) by_group[group_of(groups, row.run, row.resolution)].push_back(row);
  for (const auto& [index, repeats] : by_group) {
    const auto mean = [&repeats = repeats](auto TimingRow::*member, double factor = 1) {
      double sum = 0;
      for (const TimingRow& row : repeats) sum += factor * static_cast<double>(row.*member);
      return number(sum / static_cast<double>(repeats.size()));
    };
    const RunGroup& group = groups[index];
    const std::string x = resolutions ? number(voxels_per_side(group.resolution))
                          : link      ? mean(&TimingRow::link_to_host_gbps)
                          : budget    ? mean(&TimingRow::budget_bytes, 1.0 / (1 << 30))
                          : one_key   ? group.keys.at(distinguishing_keys.front())
                                      : group.setting;
    const std::string line = resolutions ? setting_text(group)
                             : link      ? setting_text(group, key::memory_link)
                             : budget    ? setting_text(group, key::memory_budget)
                                         : "";
    result.table.rows.push_back({x, line, mean(&TimingRow::epoch_seconds_mean), mean(&TimingRow::overhead),
                                 mean(&TimingRow::utilization, 100), mean(&TimingRow::to_host_gbps),
                                 mean(&TimingRow::to_device_gbps)});
    for (const TimingRow& row : repeats) result.moves |= row.to_host_gbps > 0 || row.to_device_gbps > 0;
  }
  return result;
}

}  // namespace

Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups, int width) {
  if (rows.empty()) return {};
  const Timings timings = timings_of(rows, groups);
  if (timings.table.rows.size() < 2) return {};
  Figure figure{.title = "Epoch and step times", .width = std::max(690, width)};
  figure.columns = 3;
  const auto add = [&](const char* title, const char* column) {
    add_chart(figure, timings.table, {"x", column, {"setting"}}, {.title = title}, timings.x_title);
  };
  add("Seconds per epoch", "seconds");
  add("Overhead (step / compute)", "overhead");
  add("Utilisation, %", "utilization");
  if (timings.moves) add("Swap-out rate, GB/s", "to_host");
  if (timings.moves) add("Swap-in rate, GB/s", "to_device");
  return figure.draw();
}

}  // namespace voxswap::pipeline
