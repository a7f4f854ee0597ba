#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/keys.h"
#include "base/units.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
#include "pipeline/report/tables.h"
#include "pipeline/sweep/sweep_output.h"

namespace voxswap::pipeline {

namespace {

struct Series {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::vector<Series> series;
  std::vector<std::string> categories;  // empty: x is a number
};

// NaN for a text that is none.
double value_of(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? *value : std::nan("");
}

std::size_t column_of(const Csv& figures, const std::string& name) {
  const auto found = std::find(figures.header.begin(), figures.header.end(), name);
  if (found == figures.header.end())
    fail(Exit::usage, "{}: the results have no column '{}'. They have {}", key::sweep_plot, name,
         join(figures.header, ", "));
  return static_cast<std::size_t>(found - figures.header.begin());
}

Chart chart_of(const Csv& figures, const SweepPlot& plot) {
  const std::size_t x = column_of(figures, plot.x), y = column_of(figures, plot.y);
  Chart chart;
  const bool numeric = std::all_of(figures.rows.begin(), figures.rows.end(),
                                   [&](const auto& row) { return !std::isnan(value_of(row[x])); });
  std::map<std::string, std::size_t> places, positions;
  for (const auto& row : figures.rows) {
    std::vector<std::string> parts;
    for (const std::string& name : plot.by) parts.push_back(row[column_of(figures, name)]);
    const std::string label = join(parts, ", ");
    const auto [place, fresh] = places.try_emplace(label, chart.series.size());
    if (fresh) chart.series.push_back({label, {}});
    if (!numeric && positions.try_emplace(row[x], positions.size()).second)
      chart.categories.push_back(row[x]);
    const double at = numeric ? value_of(row[x]) : static_cast<double>(positions[row[x]]);
    if (!std::isnan(value_of(row[y]))) chart.series[place->second].points.emplace_back(at, value_of(row[y]));
  }
  for (Series& series : chart.series) std::sort(series.points.begin(), series.points.end());
  return chart;
}

std::string data_blocks(const Chart& chart) {
  std::string data;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    data += format("$series{} << END_OF_DATA\n", i);
    for (const auto& [x, y] : chart.series[i].points) data += format("{} {}\n", x, y);
    if (chart.series[i].points.empty()) data += "0 nan\n";
    data += "END_OF_DATA\n";
  }
  return data;
}

// How series `i` is drawn, and its sample in the legend.
std::string style(const Chart& chart, std::size_t i) {
  const std::string color = plot_color(i);
  return chart.categories.empty() ? format("linespoints lc rgb '{}' lw 1.6 pt 7 ps 0.6", color)
                                  : format("boxes fs solid 0.85 noborder lc rgb '{}'", color);
}

// Bars of a category stand side by side in four fifths of its room.
std::string element(const Chart& chart, std::size_t i) {
  const double width = 0.8 / static_cast<double>(chart.series.size());
  const double offset = (static_cast<double>(i) - static_cast<double>(chart.series.size() - 1) / 2) * width;
  const std::string columns =
      chart.categories.empty() ? "1:2" : format("($1+({})):2:({})", offset, 0.92 * width);
  return format("$series{} using {} with {} notitle", i, columns, style(chart, i));
}

std::string x_axis(const Chart& chart) {
  if (chart.categories.empty()) return "set offsets graph 0.04, graph 0.04, 0, 0\n";
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < chart.categories.size(); ++i)
    tics.push_back(format("{} {}", gnuplot_tic(chart.categories[i]), i));
  return format("set xtics ({})\nset xrange [-0.6:{}]\n", join(tics, ", "),
                static_cast<double>(chart.categories.size()) - 0.4);
}

}  // namespace

Picture sweep_plot(const Csv& figures, const SweepPlot& plot) {
  const Chart chart = chart_of(figures, plot);
  const bool nothing = std::all_of(chart.series.begin(), chart.series.end(),
                                   [](const Series& series) { return series.points.empty(); });
  if (nothing) return {};  // a search, say, in which nothing fits
  const int bars = static_cast<int>(chart.categories.size() * chart.series.size());
  const int width = std::clamp(100 + 34 * bars, 640, 1400);
  std::vector<std::string> elements;
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    elements.push_back(element(chart, i));
    if (!plot.by.empty()) entries.push_back({chart.series[i].label, style(chart, i)});
  }
  const Legend legend(entries, width - 40);
  std::vector<std::string> by;
  for (const std::string& name : plot.by) by.push_back(heading_of(name));
  const std::string title =
      plot.by.empty() ? heading_of(plot.y) : heading_of(plot.y) + " by " + join(by, " and ");
  const int top = 44 + legend.height(), height = top + 380;
  return draw(data_blocks(chart) + "set datafile missing 'nan'\nset grid x y\nset yrange [0:*]\nunset key\n" +
                  x_axis(chart) +
                  format("set title {} textcolor rgb '{}'\nset xlabel {} textcolor rgb '{}'\n",
                         gnuplot_text(title), plot_ink, gnuplot_text(heading_of(plot.x)), plot_ink) +
                  "set multiplot\n" + side_margins(70, 20, width) + panel_place(top, height - 56, height) +
                  "plot " + join(elements, ", ") + "\n" + legend.plot(8, width, height) + "unset multiplot\n",
              width, height, title);
}

}  // namespace voxswap::pipeline
