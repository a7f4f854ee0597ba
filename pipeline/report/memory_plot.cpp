// Memory use over a step: a panel per memory, a colour per group of runs.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/curves.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

struct Memory {
  const char* title;
  std::int64_t MemoryRow::*bytes;
  std::int64_t MemoryRow::*budget;
};
constexpr Memory memories[] = {{"Device arena", &MemoryRow::device_bytes, &MemoryRow::budget_bytes},
                               {"Host pool", &MemoryRow::host_bytes, &MemoryRow::host_budget_bytes},
                               {"Scratch file", &MemoryRow::disk_bytes, nullptr}};

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

// One run per group, since the plans of repeats are identical. The last row describes memory after the step;
// it is replaced so that the curve ends with the last level within the step.
std::vector<MemoryRow> steps_of(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups) {
  std::map<std::size_t, std::vector<MemoryRow>> by_group;
  for (const MemoryRow& row : rows) {
    auto& step = by_group[group_of(groups, row.run, row.resolution)];
    if (step.empty() || step.front().run == row.run) step.push_back(row);
  }
  std::vector<MemoryRow> steps;
  for (auto& [group, step] : by_group) {
    if (const std::size_t last = step.size() - 1; last > 0) {
      const double end = step[last].seconds;
      step[last] = step[last - 1];
      step[last].seconds = end;
    }
    steps.insert(steps.end(), step.begin(), step.end());
  }
  return steps;
}

// Mentions a budget far above the curve in the title instead of compressing the plot.
void add_budgets(Panel& panel, const Memory& memory, const Unit& unit, double most,
                 const std::vector<MemoryRow>& steps, const std::vector<RunGroup>& groups) {
  std::map<std::int64_t, std::set<std::size_t>> budgets;  // groups with equal budgets share a line
  for (const MemoryRow& row : steps)
    if (memory.budget && row.*memory.budget > 0)
      budgets[row.*memory.budget].insert(group_of(groups, row.run, row.resolution));
  double highest = most;
  std::vector<std::string> far;
  for (const auto& [bytes, of] : budgets) {
    const double budget = static_cast<double>(bytes) / unit.bytes;
    if (budget > 1.7 * most) {
      far.push_back(format_bytes(bytes));
      continue;
    }
    highest = std::max(highest, budget);
    const std::string color =
        of.size() == 1 && groups.size() > 1 ? group_color(groups, *of.begin()) : limit_color;
    panel.elements.push_back(format("{} with lines lc rgb '{}' dt '-' lw 1.4 notitle", budget, color));
    panel.labels +=
        format("set label {} at graph 0.995,first {} right offset 0,0.5 font small textcolor rgb '{}'\n",
               gnuplot_text("budget " + format_bytes(bytes)), budget, color);
  }
  if (!far.empty()) panel.title += format(" (budget {}, above this plot)", join(far, " and "));
  panel.y = axis_from_zero(highest, 5);
}

}  // namespace

Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups, int width) {
  const std::vector<MemoryRow> steps = steps_of(rows, groups);
  double seconds = 0;
  for (const MemoryRow& row : steps) seconds = std::max(seconds, row.seconds);
  const double scale = seconds < 1 ? 1000 : 1;
  const Axis time =
      number_axis({0, seconds > 0 ? scale * seconds : 1}, 8,
                  format("{} within a step (predicted)", scale > 1 ? "milliseconds" : "seconds"));
  Figure figure{
      .title = "Memory over one step", .width = std::max(600, width), .legend = group_legend(groups)};
  for (const Memory& memory : memories) {
    std::int64_t most = 0;
    for (const MemoryRow& row : steps) most = std::max(most, row.*memory.bytes);
    if (most == 0) continue;
    const Unit unit = unit_for(most);
    Panel panel{.title = format("{}, {}", memory.title, unit.name), .x = time, .height = 176};
    const Range range = add_curves(
        figure, panel, steps, groups, [&](const MemoryRow& row) { return scale * row.seconds; },
        [&](const MemoryRow& row) { return static_cast<double>(row.*memory.bytes) / unit.bytes; },
        [&](std::size_t group) { return format("steps lc rgb '{}' lw 1.5", group_color(groups, group)); });
    add_budgets(panel, memory, unit, range.high, steps, groups);
    figure.panels.push_back(std::move(panel));
  }
  return figure.panels.empty() ? Picture{} : figure.draw();
}

}  // namespace voxswap::pipeline
