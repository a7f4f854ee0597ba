// Memory over a step: a panel per memory and a colour per group of runs.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

struct Panel {
  const char* title;
  std::int64_t MemoryRow::*bytes;
  int column;  // of the data
  std::int64_t MemoryRow::*budget = nullptr;
};

struct Unit {
  const char* name;
  double bytes;
};

Unit unit_for(std::int64_t most) {
  constexpr Unit units[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
  for (const Unit& unit : units) {
    if (static_cast<double>(most) >= unit.bytes) return unit;
  }
  return {"B", 1};
}

using Steps = std::map<std::size_t, std::vector<const MemoryRow*>>;  // by group

// The step of one run of each group: those of its repeats are the same.
Steps steps_of(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups) {
  Steps steps;
  for (const MemoryRow& row : rows) {
    auto& step = steps[group_of(groups, row.run, row.resolution)];
    if (step.empty() || step.front()->run == row.run) step.push_back(&row);
  }
  return steps;
}

// The last row tells what stays after the step: within it, what was held before lasts to the end.
std::string data_block(std::size_t group, const std::vector<const MemoryRow*>& step, double scale) {
  std::string data = format("$memory{} << END_OF_DATA\n", group);
  for (std::size_t i = 0; i < step.size(); ++i) {
    const MemoryRow& held = *step[i + 1 < step.size() || i == 0 ? i : i - 1];
    data += format("{} {} {} {}\n", scale * step[i]->seconds, held.device_bytes, held.host_bytes,
                   held.disk_bytes);
  }
  return data + "END_OF_DATA\n";
}

// Groups with the same budget share a line.
std::map<std::int64_t, std::vector<std::size_t>> budgets_of(const Steps& steps, const Panel& panel) {
  std::map<std::int64_t, std::vector<std::size_t>> budgets;
  if (panel.budget == nullptr) return budgets;
  for (const auto& [group, step] : steps) {
    if (const std::int64_t bytes = step.front()->*panel.budget; bytes > 0) budgets[bytes].push_back(group);
  }
  return budgets;
}

// A budget that is far above all that is held is told in the title instead of flattening the picture.
std::string panel_plot(const Panel& panel, std::int64_t most, const Steps& steps) {
  const Unit unit = unit_for(most);
  double highest = static_cast<double>(most) / unit.bytes;
  std::string title = format("{}, {}", panel.title, unit.name), labels;
  std::vector<std::string> elements;
  for (const auto& [group, step] : steps) {
    elements.push_back(format("$memory{} using 1:(${}/{}) with steps lc rgb '{}' lw 1.5 notitle", group,
                              panel.column, unit.bytes, plot_color(group)));
  }
  std::vector<std::string> far;
  for (const auto& [bytes, of] : budgets_of(steps, panel)) {
    const double budget = static_cast<double>(bytes) / unit.bytes;
    if (static_cast<double>(bytes) > 1.7 * static_cast<double>(most)) {
      far.push_back(format_bytes(bytes));
      continue;
    }
    highest = std::max(highest, budget);
    const std::string color = of.size() == 1 && steps.size() > 1 ? plot_color(of[0]) : limit_color;
    elements.push_back(format("{} with lines lc rgb '{}' dt '-' lw 1.4 notitle", budget, color));
    labels +=
        format("set label {} at graph 0.995,first {} right offset 0,0.5 font small textcolor rgb '{}'\n",
               gnuplot_text("budget " + format_bytes(bytes)), budget, color);
  }
  if (!far.empty()) title += format(" (budget {}, above this plot)", join(far, " and "));
  const double top = 1.12 * highest;
  return labels + format(
                      "set title {} textcolor rgb '{}' offset 0,-0.4\nset yrange [0:{}]\nset ytics {}\n"
                      "plot {}\nunset label\n",
                      gnuplot_text(title), plot_ink, top, tic_step(top, 5), join(elements, ", "));
}

}  // namespace

Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups) {
  const auto steps = steps_of(rows, groups);
  std::vector<Panel> panels = {{"Device arena", &MemoryRow::device_bytes, 2, &MemoryRow::budget_bytes},
                               {"Host pool", &MemoryRow::host_bytes, 3, &MemoryRow::host_budget_bytes},
                               {"Scratch file", &MemoryRow::disk_bytes, 4}};
  const auto most = [&](const Panel& panel) {
    std::int64_t bytes = 0;
    for (const MemoryRow& row : rows) bytes = std::max(bytes, row.*panel.bytes);
    return bytes;
  };
  std::erase_if(panels, [&](const Panel& panel) { return most(panel) == 0; });
  if (panels.empty()) return {};

  double seconds = 0;
  for (const MemoryRow& row : rows) seconds = std::max(seconds, row.seconds);
  const double scale = seconds < 1 ? 1000 : 1;
  const int width = 600;
  std::vector<LegendEntry> entries;
  for (const auto& [group, step] : steps) {
    if (steps.size() < 2) continue;
    entries.push_back({groups[group].name, format("lines lc rgb '{}' lw 1.8", plot_color(group))});
  }
  const Legend legend(entries, width - 40);
  const int top = 46 + legend.height(), row_height = 266;
  const int height = top + row_height * static_cast<int>(panels.size()) + 10;
  std::string data, plots;
  for (const auto& [group, step] : steps) data += data_block(group, step, scale);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double panel_top = top + row_height * static_cast<double>(i);
    plots += panel_place(panel_top, panel_top + row_height - 90, height) +
             panel_plot(panels[i], most(panels[i]), steps);
  }
  const double end = seconds > 0 ? scale * seconds : 1;
  const std::string script =
      data + "set grid x y\n" + side_margins(72, 34, width) + "unset key\n" +
      format(
          "set xlabel '{} of a step, as planned' offset 0,0.4 textcolor rgb '{}'\nset xrange [0:{}]\nset "
          "xtics {}\n",
          scale > 1 ? "milliseconds" : "seconds", plot_ink, end, tic_step(end, 8)) +
      "set multiplot\n" + plots + legend.plot(8, width, height) + "unset multiplot\n";
  return draw(script, width, height, "Memory over a step");
}

}  // namespace voxswap::pipeline
