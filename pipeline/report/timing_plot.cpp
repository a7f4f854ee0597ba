// Time of epochs and steps by group of runs: seconds, overhead, utilisation, and copy rates.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
#include "pipeline/report/plots.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

constexpr int panel_width = 232, panel_height = 190;
constexpr std::size_t longest_tic = 22;

// A group of runs: means over its repeats.
struct Timed {
  double seconds = 0, overhead = 0, utilization = 0, to_host = 0, to_device = 0, link = 0, budget = 0;
};

std::map<std::size_t, Timed> timed_groups(const std::vector<TimingRow>& rows,
                                          const std::vector<RunGroup>& groups) {
  std::map<std::size_t, Timed> timed;
  std::map<std::size_t, double> count;
  for (const TimingRow& row : rows) {
    const std::size_t group = group_of(groups, row.run, row.resolution);
    Timed& sum = timed[group];
    ++count[group];
    sum.seconds += row.epoch_seconds_mean;
    sum.overhead += row.overhead;
    sum.utilization += row.utilization;
    sum.to_host += row.to_host_gbps;
    sum.to_device += row.to_device_gbps;
    sum.link += row.link_to_host_gbps;
    sum.budget += static_cast<double>(row.budget_bytes) / (1 << 30);
  }
  for (auto& [group, sum] : timed) {
    for (double Timed::*of : {&Timed::seconds, &Timed::overhead, &Timed::utilization, &Timed::to_host,
                              &Timed::to_device, &Timed::link, &Timed::budget})
      sum.*of /= count[group];
  }
  return timed;
}

// What runs along the axis, and which lines there are.
struct Axis {
  std::string title;
  std::vector<double> x;            // per group
  std::vector<std::string> series;  // per group: the name of its line
  std::vector<std::string> tics;    // names along the axis; empty: numbers
};

bool varies(const std::vector<RunGroup>& groups, const std::string& prefix) {
  return std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) {
    return std::any_of(group.told_by.begin(), group.told_by.end(),
                       [&](const std::string& key) { return key.starts_with(prefix); });
  });
}

Axis axis_of(const std::vector<RunGroup>& groups, const std::map<std::size_t, Timed>& timed) {
  Axis axis;
  const bool resolutions = groups.front().resolution != groups.back().resolution;
  const bool link = varies(groups, key::memory_link), budget = varies(groups, key::memory_budget);
  const std::string left_out = resolutions ? "-" : link ? key::memory_link : budget ? key::memory_budget : "";
  for (const RunGroup& group : groups)
    axis.series.push_back(left_out.empty() ? "" : setting_text(group, left_out));
  if (resolutions) {
    const std::string& coarsest = groups.front().resolution;
    axis.title = format("voxels, relative to {}", coarsest);
    for (const RunGroup& group : groups)
      axis.x.push_back(resolution_voxels(group.resolution) / resolution_voxels(coarsest));
    return axis;
  }
  // One key needs no name at every value of it.
  const std::vector<std::string>& told_by = groups.front().told_by;
  const bool one_key = told_by.size() == 1;
  axis.title = link      ? "link to the host, GB/s"
               : budget  ? "budget, GiB"
               : one_key ? heading_of(told_by.front())
                         : "";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto found = timed.find(i);
    const double none = std::nan("");
    if (left_out.empty()) {
      axis.x.push_back(static_cast<double>(i));
      axis.tics.push_back(
          shortened(one_key ? groups[i].keys.at(told_by.front()) : groups[i].setting, longest_tic));
    } else {
      axis.x.push_back(found == timed.end() ? none : link ? found->second.link : found->second.budget);
    }
  }
  return axis;
}

struct Panel {
  const char* title;
  double Timed::*value;
  double factor;
  double Timed::*second;  // open points; null: none
  double most = std::numeric_limits<double>::infinity();
};

struct Series {
  std::string name;
  std::vector<std::size_t> groups;  // by x
};

std::vector<Series> series_of(const Axis& axis, const std::map<std::size_t, Timed>& timed) {
  std::vector<Series> all;
  for (const auto& [group, means] : timed) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Series& series) { return series.name == axis.series[group]; });
    if (found == all.end()) found = all.insert(found, {axis.series[group], {}});
    found->groups.push_back(group);
  }
  for (Series& series : all) {
    std::stable_sort(series.groups.begin(), series.groups.end(),
                     [&](std::size_t a, std::size_t b) { return axis.x[a] < axis.x[b]; });
  }
  return all;
}

std::size_t longest_name(const Axis& axis) {
  std::size_t longest = 0;
  for (const std::string& name : axis.tics) longest = std::max(longest, letters(name));
  return longest;
}

// Names that would run into each other stand at an angle.
bool is_slanted(const Axis& axis) {
  return longest_name(axis) * 8 * axis.tics.size() > static_cast<std::size_t>(panel_width);
}

std::string axis_script(const Axis& axis) {
  if (axis.tics.empty()) {
    Range range;
    for (const double x : axis.x) range.include(x);
    const Range shown = range.padded();
    return format("set xrange {}\nset xtics {}\n", shown.text(), tic_step(shown.high - shown.low, 6));
  }
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < axis.tics.size(); ++i)
    tics.push_back(format("{} {}", gnuplot_tic(axis.tics[i]), i));
  return format("set xrange [-0.5:{}]\nset xtics scale 0 {} ({})\n",
                static_cast<double>(axis.tics.size()) - 0.5,
                is_slanted(axis) ? "rotate by 35 right" : "norotate", join(tics, ", "));
}

// One panel's data blocks and plot elements.
std::string panel_plot(const Panel& panel, std::size_t index, const std::vector<Series>& all,
                       const Axis& axis, const std::map<std::size_t, Timed>& timed, std::string& data) {
  std::vector<std::string> elements;
  double highest = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::string name = format("$timing_{}_{}", index, s);
    data += format("{} << END_OF_DATA\n", name);
    for (const std::size_t group : all[s].groups) {
      const Timed& means = timed.at(group);
      const double value = panel.factor * (means.*panel.value),
                   second = panel.second ? panel.factor * (means.*panel.second) : std::nan("");
      highest = std::fmax(highest, std::fmax(value, second));
      data += format("{} {} {}\n", axis.x[group], value, second);
    }
    data += "END_OF_DATA\n";
    const auto add = [&](int column, const char* dash, int point) {
      elements.push_back(format("{} using 1:{} with {} lc rgb '{}' dt {} lw 1.6 pt {} ps 0.6 notitle", name,
                                column, axis.tics.empty() ? "linespoints" : "points", plot_color(s), dash,
                                point));
    };
    add(2, "1", 7);
    if (panel.second) add(3, "'-'", 6);
  }
  const double top = highest > 0 ? std::min(1.12 * highest, panel.most) : 1;
  return format("set title {} textcolor rgb '{}' offset 0,-0.4\nset yrange [0:{}]\nset ytics {}\nplot {}\n",
                gnuplot_text(panel.title), plot_ink, top, tic_step(top, 5), join(elements, ", "));
}

}  // namespace

Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups) {
  const std::map<std::size_t, Timed> timed = timed_groups(rows, groups);
  if (timed.size() < 2) return {};
  const Axis axis = axis_of(groups, timed);
  const std::vector<Series> all = series_of(axis, timed);
  std::vector<Panel> panels = {{"Seconds per epoch", &Timed::seconds, 1, nullptr},
                               {"Overhead (step over kernels alone)", &Timed::overhead, 1, nullptr},
                               {"Utilisation, %", &Timed::utilization, 100, nullptr, 100}};
  const bool moves = std::any_of(timed.begin(), timed.end(), [](const auto& entry) {
    return entry.second.to_host > 0 || entry.second.to_device > 0;
  });
  if (moves) panels.push_back({"Swap-out rate, GB/s (open: swap-in)", &Timed::to_host, 1, &Timed::to_device});

  const int width = 620;
  std::vector<LegendEntry> entries;
  for (std::size_t s = 0; all.size() > 1 && s < all.size(); ++s)
    entries.push_back({all[s].name, format("linespoints lc rgb '{}' lw 1.6 pt 7 ps 0.6", plot_color(s))});
  const Legend legend(entries, width - 40);
  const int below = 44 + (is_slanted(axis) ? 5 * static_cast<int>(longest_name(axis)) : 15);
  const int lines = (static_cast<int>(panels.size()) + 1) / 2, top = 36 + legend.height();
  const int row_height = panel_height + below + 30, height = top + lines * row_height;
  std::string data, plots;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double left = 56 + 306.0 * static_cast<double>(i % 2),
                 panel_top = top + row_height * static_cast<double>(i / 2);
    plots += side_margins(left, width - left - panel_width, width) +
             panel_place(panel_top, panel_top + panel_height, height) +
             panel_plot(panels[i], i, all, axis, timed, data);
  }
  const std::string script =
      data + "set datafile missing 'nan'\nset grid x y\n" + axis_script(axis) +
      format("set xlabel {} offset 0,0.4 textcolor rgb '{}'\n", gnuplot_text(axis.title), plot_ink) +
      "unset key\nset multiplot\n" + plots + legend.plot(8, width, height) + "unset multiplot\n";
  return draw(script, width, height, "Time of epochs and steps");
}

}  // namespace voxswap::pipeline
