#include "pipeline/report/chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/group_colors.h"

namespace voxswap::pipeline {

namespace {

struct Series {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

// NaN if the text is not a number.
double value_of(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? *value : std::nan("");
}

}  // namespace

bool add_chart(Figure& figure, const Csv& table, const ChartColumns& columns, const Panel& panel,
               const std::string& x_title) {
  const std::size_t x = table.column(columns.x, panel.title), y = table.column(columns.y, panel.title);
  const bool bars = std::any_of(table.rows.begin(), table.rows.end(),
                                [&](const auto& row) { return std::isnan(value_of(row[x])); });
  std::vector<Series> all;
  std::vector<std::string> names;  // on the x axis
  std::map<std::string, std::size_t> places;
  Range across;
  double highest = 0;
  for (const auto& row : table.rows) {
    std::vector<std::string> parts;
    for (const std::string& name : columns.by) parts.push_back(row[table.column(name, panel.title)]);
    const auto [place, fresh] = places.try_emplace(join(parts, ", "), all.size());
    if (fresh) all.push_back({place->first, {}});
    const auto name = std::find(names.begin(), names.end(), row[x]);
    const double at = bars ? static_cast<double>(name - names.begin()) : value_of(row[x]);
    if (name == names.end()) names.push_back(row[x]);
    if (std::isnan(value_of(row[y]))) continue;
    all[place->second].points.emplace_back(at, value_of(row[y]));
    across.include(at);
    highest = std::max(highest, value_of(row[y]));
  }
  if (across.empty()) return false;
  const double bar =
      0.8 / static_cast<double>(all.size());  // width of a bar; the bars of a group take 80 % of its space
  figure.legend.clear();
  figure.panels.push_back(panel);
  Panel& drawn = figure.panels.back();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::pair<double, double>>& points = all[i].points;
    std::sort(points.begin(), points.end());
    std::string lines = points.empty() ? "0 nan\n" : "";
    for (const auto& [at, value] : points) lines += format("{} {}\n", at, value);
    const double offset = (static_cast<double>(i) - static_cast<double>(all.size() - 1) / 2) * bar;
    const std::string style =
        format("{} lc rgb '{}'", bars ? "boxes fs solid 0.85 noborder" : "linespoints lw 1.6 pt 7 ps 0.6",
               series_color(i));
    drawn.elements.push_back(element(figure.add_data(lines),
                                     bars ? format("($1+({})):2:({})", offset, 0.92 * bar) : "1:2", style));
    if (all.size() > 1 || !all[i].label.empty()) figure.legend.push_back({all[i].label, style});
  }
  drawn.x = bars ? name_axis(names, figure.panel_width() / static_cast<double>(names.size()), x_title)
                 : number_axis(across.padded(), 6, x_title);
  drawn.y = axis_from_zero(highest, 6);
  return true;
}

}  // namespace voxswap::pipeline
