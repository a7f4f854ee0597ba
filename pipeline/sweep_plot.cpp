#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "pipeline/gnuplot.h"
#include "pipeline/sweep_page.h"

namespace voxswap {

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
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? value : std::nan("");
}

std::size_t column_of(const Csv& figures, const std::string& name) {
  const auto found = std::find(figures.header.begin(), figures.header.end(), name);
  if (found == figures.header.end())
    fail(Exit::usage, "sweep.plot: the results have no column '{}'; they have {}", name,
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

// Bars of a category stand side by side in four fifths of its room.
std::string element(const Chart& chart, std::size_t i) {
  const std::size_t count = chart.series.size();
  const std::string color = plot_color(i, count);
  const std::string title =
      chart.series[i].label.empty() ? "notitle" : "title " + gnuplot_text(chart.series[i].label);
  if (chart.categories.empty())
    return format("$series{} using 1:2 with linespoints lc rgb '{}' lw 1.6 pt 7 ps 0.6 {}", i, color, title);
  const double width = 0.8 / static_cast<double>(count);
  const double offset = (static_cast<double>(i) - static_cast<double>(count - 1) / 2) * width;
  return format("$series{} using ($1+({})):2:({}) with boxes fs solid 0.85 noborder lc rgb '{}' {}", i,
                offset, 0.92 * width, color, title);
}

std::string x_axis(const Chart& chart) {
  if (chart.categories.empty()) return "set offsets graph 0.04, graph 0.04, 0, 0\n";
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < chart.categories.size(); ++i)
    tics.push_back(format("{} {}", gnuplot_text(chart.categories[i]), i));
  return format("set xtics ({})\nset xrange [-0.6:{}]\n", join(tics, ", "),
                static_cast<double>(chart.categories.size()) - 0.4);
}

}  // namespace

Picture sweep_plot(const Csv& figures, const SweepPlot& plot) {
  const Chart chart = chart_of(figures, plot);
  std::vector<std::string> elements;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    elements.push_back(element(chart, i));
    longest = std::max(longest, chart.series[i].label.size());
  }
  const int legend = longest > 0 ? static_cast<int>(longest) * 8 + 50 : 0;
  // The key's own title cannot be painted in the page's colours.
  const std::string title = plot.by.empty()
                                ? ""
                                : format("set title {} textcolor rgb '{}'\n",
                                         gnuplot_text(plot.y + " by " + join(plot.by, ", ")), plot_ink);
  const int bars = static_cast<int>(chart.categories.size() * std::max<std::size_t>(chart.series.size(), 1));
  const int width = std::clamp(60 + 34 * bars, 560, 1400) + legend;
  const int height = std::max(380, 80 + 20 * (static_cast<int>(chart.series.size()) + 2));
  return draw(data_blocks(chart) + "set datafile missing 'nan'\nset grid x y\nset yrange [0:*]\n" +
                  x_axis(chart) + (legend > 0 ? "set key outside right top Left reverse\n" : "unset key\n") +
                  title +
                  format("set xlabel {} textcolor rgb '{}'\nset ylabel {} textcolor rgb '{}'\n",
                         gnuplot_text(plot.x), plot_ink, gnuplot_text(plot.y), plot_ink) +
                  "plot " + join(elements, ", ") + "\n",
              width, height);
}

}  // namespace voxswap
