#include "pipeline/report/chart.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

// NaN if the text is not a number.
double value_of(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? *value : std::nan("");
}

}  // namespace

bool add_chart(Figure& figure, const Csv& table, const ChartColumns& columns, const Panel& panel,
               const std::string& x_title) {
  const std::size_t x = table.column(columns.x, panel.title), y = table.column(columns.y, panel.title);
  const bool bars =
      std::ranges::any_of(table.rows, [&](const auto& row) { return std::isnan(value_of(row[x])); });
  std::vector<std::string> labels, names;                                         // of lines, on the x axis
  std::vector<std::vector<std::pair<double, double>>> points(table.rows.size());  // of lines
  Range across;
  double highest = 0;
  for (const auto& row : table.rows) {
    std::vector<std::string> parts;
    for (const std::string& name : columns.by) parts.push_back(row[table.column(name, panel.title)]);
    const std::size_t line = place_in(labels, join(parts, ", ")), name = place_in(names, row[x]);
    const double at = bars ? static_cast<double>(name) : value_of(row[x]), value = value_of(row[y]);
    if (std::isnan(value)) continue;
    points[line].emplace_back(at, value);
    across.include(at);
    highest = std::max(highest, value);
  }
  if (across.empty()) return false;
  const double bar = 0.8 / static_cast<double>(labels.size());  // the bars of a group take 80 % of its space
  figure.legend.clear();
  figure.panels.push_back(panel);
  Panel& drawn = figure.panels.back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::ranges::sort(points[i]);
    std::string lines = points[i].empty() ? "0 nan\n" : "";
    for (const auto& [at, value] : points[i]) lines += format("{} {}\n", at, value);
    const double offset = (static_cast<double>(i) - static_cast<double>(labels.size() - 1) / 2) * bar;
    const std::string style =
        format("{} lc rgb '{}'", bars ? "boxes fs solid 0.85 noborder" : "linespoints lw 1.6 pt 7 ps 0.6",
               series_color(i));
    figure.add(drawn, lines, bars ? format("($1+({})):2:({})", offset, 0.92 * bar) : "1:2", style);
    if (labels.size() > 1 || !labels[i].empty()) figure.legend.push_back({labels[i], style});
  }
  drawn.x = bars ? name_axis(names, figure.panel_width() / static_cast<double>(names.size()), x_title)
                 : number_axis(across.padded(), 6, x_title);
  drawn.y = axis_from_zero(highest, 6);
  return true;
}

}  // namespace voxswap::pipeline
