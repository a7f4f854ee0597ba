// Plots of what groups of runs cost: Dice against time and memory, with the Pareto front (the groups that no
// other one beats in both), and epoch and step times over what was varied.
#include <algorithm>

#include "base/keys.h"
#include "pipeline/report/chart.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

struct GroupDot {
  double cost = 0, dice = 0;
  std::size_t group = 0;
};

using RowsOfGroups = std::vector<std::vector<const TimingRow*>>;

// Dots of the groups with costs; of ensembles there are none.
template <class Cost>
std::vector<GroupDot> dots_of(const Ranking& ranking, const RowsOfGroups& timing, Cost cost) {
  std::vector<GroupDot> dots;
  for (const RankedGroup& ranked : ranking.groups) {
    if (ranked.group >= timing.size()) continue;
    const double mean = mean_of(timing[ranked.group], cost);
    if (mean > 0) dots.push_back({mean, ranked.dice, ranked.group});
  }
  return dots;
}

double most(const std::vector<GroupDot>& dots) {
  return std::ranges::max(dots, {}, &GroupDot::cost).cost;
}

std::string front_of(std::vector<GroupDot> dots) {
  std::ranges::sort(dots, {}, [](const GroupDot& dot) { return std::pair(dot.cost, -dot.dice); });
  std::string lines;
  double best = -1;
  for (const GroupDot& dot : dots)
    if (dot.dice > best) {
      lines += format("{} {}\n", dot.cost, dot.dice);
      best = dot.dice;
    }
  return lines;
}

std::string dot_style(const std::vector<RunGroup>& groups, std::size_t group) {
  return format("points pt 7 ps 1.6*point lc rgb '{}'", group_color(groups, group));
}

// `unit`: of the costs on the x axis.
void add_costs(Figure& figure, std::vector<GroupDot> dots, double unit, const std::vector<RunGroup>& groups,
               const std::string& x_title) {
  Panel panel{.height = 220};
  Range dice;
  for (GroupDot& dot : dots) {
    dot.cost /= unit;
    dice.include(dot.dice);
  }
  figure.add(panel, front_of(dots), "1:2", format("lines dt '-' lw 1.4 lc rgb '{}'", plot_ink));
  for (const GroupDot& dot : dots)
    figure.add(panel, format("{} {}\n", dot.cost, dot.dice), "1:2", dot_style(groups, dot.group));
  panel.x = axis_from_zero(most(dots), 4, x_title);
  panel.y = number_axis(dice.padded(), 6, figure.panels.empty() ? "mean Dice" : "");
  figure.panels.push_back(std::move(panel));
}

}  // namespace

Picture pareto_plot(const Ranking& ranking, const std::vector<TimingRow>& timing,
                    const std::vector<RunGroup>& groups, int width) {
  const RowsOfGroups of_groups = by_group(groups, timing);
  const std::vector<GroupDot> time = dots_of(ranking, of_groups, &TimingRow::epoch_seconds_mean),
                              memory = dots_of(ranking, of_groups, &TimingRow::device_peak_bytes);
  if (time.size() < 2) return {};
  const bool minutes = most(time) > 180, has_memory = memory.size() > 1;
  Figure figure{.title = "Dice against time and memory",
                .left_margin = 84,
                .note = "dashed: Pareto front (no group has a higher Dice at lower cost)"};
  figure.set_columns(has_memory ? 2 : 1, width);
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (std::ranges::find(time, i, &GroupDot::group) != time.end())
      figure.legend.push_back({groups[i].label, dot_style(groups, i)});
  add_costs(figure, time, minutes ? 60 : 1, groups, minutes ? "epoch, min" : "epoch, s");
  if (has_memory) {
    const bool gib = most(memory) > (1 << 30);
    add_costs(figure, memory, gib ? 1 << 30 : 1 << 20, groups,
              gib ? "device memory, GiB" : "device memory, MiB");
  }
  return figure.draw();
}

namespace {

bool varies(const std::vector<RunGroup>& groups, const std::string& prefix) {
  return std::ranges::any_of(groups.front().distinguishing_keys,
                             [&](const std::string& key) { return key.starts_with(prefix); });
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
  const RowsOfGroups of_groups = by_group(groups, rows);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<const TimingRow*>& repeats = of_groups[i];
    const RunGroup& group = groups[i];
    if (repeats.empty()) continue;
    const auto mean = [&](auto TimingRow::*member, double factor = 1) {
      double sum = 0;
      for (const TimingRow* row : repeats) sum += factor * static_cast<double>(row->*member);
      return number(sum / static_cast<double>(repeats.size()));
    };
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
    for (const TimingRow* row : repeats) result.moves |= row->to_host_gbps > 0 || row->to_device_gbps > 0;
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
