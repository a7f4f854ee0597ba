// What the memories hold over a step, a panel per memory and a colour per group of runs.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/gnuplot.h"
#include "pipeline/plot_parts.h"
#include "pipeline/plots.h"

namespace voxswap {

namespace {

struct Panel {
  const char* title;
  std::int64_t MemoryRow::*bytes;
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

// The step of one run of each group: those of its repeats are the same.
std::map<std::size_t, std::vector<const MemoryRow*>> steps_of(const std::vector<MemoryRow>& rows,
                                                              const std::vector<RunGroup>& groups) {
  std::map<std::size_t, std::vector<const MemoryRow*>> steps;
  for (const MemoryRow& row : rows) {
    auto& step = steps[group_of(groups, row.run, row.resolution)];
    if (step.empty() || step.front()->run == row.run) step.push_back(&row);
  }
  return steps;
}

}  // namespace

Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups) {
  const auto steps = steps_of(rows, groups);
  std::vector<Panel> panels = {{"Device arena", &MemoryRow::device_bytes},
                               {"Host pool", &MemoryRow::host_bytes},
                               {"Scratch file", &MemoryRow::disk_bytes}};
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
  const int width = 760;
  std::vector<LegendEntry> entries;
  for (const auto& [group, step] : steps) {
    if (steps.size() < 2) continue;
    entries.push_back({group_label(groups[group].resolution, groups[group].setting),
                       format("lines lc rgb '{}' lw 1.8", plot_color(group, groups.size()))});
  }
  const Legend legend(entries, width - 40);
  const int top = 46 + legend.height(), row_height = 266;
  const int height = top + row_height * static_cast<int>(panels.size()) + 10;
  std::string data, plots;
  for (const auto& [group, step] : steps) {
    data += format("$memory{} << END_OF_DATA\n", group);
    for (const MemoryRow* row : step)
      data +=
          format("{} {} {} {}\n", scale * row->seconds, row->device_bytes, row->host_bytes, row->disk_bytes);
    data += "END_OF_DATA\n";
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Unit unit = unit_for(most(panels[i]));
    const int column = panels[i].bytes == &MemoryRow::device_bytes ? 2
                       : panels[i].bytes == &MemoryRow::host_bytes ? 3
                                                                   : 4;
    std::vector<std::string> elements;
    for (const auto& [group, step] : steps) {
      elements.push_back(format("$memory{} using 1:(${}/{}) with steps lc rgb '{}' lw 1.5 notitle", group,
                                column, unit.bytes, plot_color(group, groups.size())));
    }
    const double highest = 1.1 * static_cast<double>(most(panels[i])) / unit.bytes,
                 panel_top = top + row_height * static_cast<double>(i);
    plots += panel_place(panel_top, panel_top + row_height - 90, height) +
             format(
                 "set title {} textcolor rgb '{}' offset 0,-0.4\nset yrange [0:{}]\nset ytics {}\nplot "
                 "{}\n",
                 gnuplot_text(format("{}, {}", panels[i].title, unit.name)), plot_ink, highest,
                 tic_step(highest, 5), join(elements, ", "));
  }
  const double end = seconds > 0 ? scale * seconds : 1;
  const std::string script =
      data + "set grid x y\n" + side_margins(72, 20, width) + "unset key\n" +
      format(
          "set xlabel '{} of a step, as planned' offset 0,0.4 textcolor rgb '{}'\nset xrange [0:{}]\nset "
          "xtics {}\n",
          scale > 1 ? "milliseconds" : "seconds", plot_ink, end, tic_step(end, 10)) +
      "set multiplot\n" + plots + legend.plot(8, width, height) + "unset multiplot\n";
  return draw(script, width, height);
}

}  // namespace voxswap
