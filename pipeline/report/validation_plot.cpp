// Dice of the validation cases over the time of training: a panel per region, a line per run and repeat, a
// colour per group of runs; with one group a colour per region.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

struct Line {
  std::size_t group = 0;
  std::string points;
};

using Lines = std::vector<Line>;

// In the order of the table.
std::vector<std::pair<std::string, Lines>> lines_by_region(const std::vector<ValidationRow>& rows,
                                                           const std::vector<RunGroup>& groups) {
  std::vector<std::pair<std::string, Lines>> regions;
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::size_t> places;
  for (const ValidationRow& row : rows) {
    auto region = std::find_if(regions.begin(), regions.end(),
                               [&](const auto& entry) { return entry.first == row.region; });
    if (region == regions.end()) region = regions.insert(region, {row.region, {}});
    Lines& lines = region->second;
    const auto [found, fresh] =
        places.try_emplace({row.region, row.run, row.resolution, row.repeat}, lines.size());
    if (fresh) lines.push_back({group_of(groups, row.run, row.resolution), ""});
    lines[found->second].points += format("{} {}\n", row.trained_seconds, row.dice);
  }
  return regions;
}

}  // namespace

Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups) {
  const auto regions = lines_by_region(rows, groups);
  const int count = static_cast<int>(regions.size()), columns = std::min(2, count),
            lines = (count + columns - 1) / columns;
  const int width = std::max(520, 40 + 280 * columns);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {
    entries.push_back({groups[i].name, format("lines lc rgb '{}' lw 1.8", plot_color(i))});
  }
  const Legend legend(entries, width - 40);
  const int top = 62 + legend.height(), row_height = 270, height = top + lines * row_height;
  Range seconds;
  for (const ValidationRow& row : rows) seconds.include(row.trained_seconds);
  const double unit = seconds.high < 120 ? 1 : 60;
  const double end = seconds.empty() || seconds.high <= 0 ? 1 : 1.02 * seconds.high / unit;

  std::string data, plots;
  const double step = (width - 24.0) / columns;
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const auto& [region, all] = regions[index];
    std::vector<std::string> elements;
    for (std::size_t line = 0; line < all.size(); ++line) {
      const std::string name = format("$line_{}_{}", i, line);
      data += format("{} << END_OF_DATA\n{}END_OF_DATA\n", name, all[line].points);
      elements.push_back(format("{} using ($1/{}):2 with linespoints lc rgb '{}' lw 1.4 pt 7 ps 0.35 notitle",
                                name, unit, plot_color(groups.size() == 1 ? index : all[line].group)));
    }
    const double left = 56 + step * (i % columns), panel_top = top + row_height * (i / columns);
    plots += side_margins(left, width - (left + step - 40), width) +
             panel_place(panel_top, panel_top + row_height - 86, height) +
             format("set title {} textcolor rgb '{}' offset 0,-0.4\nplot {}\nunset label\n",
                    gnuplot_text(shortened(region, static_cast<std::size_t>(step) / 8)), plot_ink,
                    join(elements, ", "));
  }
  const std::string script =
      data + "set datafile missing 'nan'\nset grid x y\n" +
      format(
          "set label 1 'Mean Dice of the validation cases, training grid' at screen 0.5,{} center "
          "textcolor rgb '{}'\n",
          1 - 18.0 / height, plot_ink) +
      format(
          "set xlabel '{} of training' offset 0,0.4 textcolor rgb '{}'\nset xrange [0:{}]\nset xtics "
          "{}\nset yrange [0:1]\nset ytics 0.2\n",
          unit > 1 ? "minutes" : "seconds", plot_ink, end, tic_step(end, 5)) +
      "unset key\nset multiplot\n" + plots + legend.plot(30, width, height) + "unset multiplot\n";
  return draw(script, width, height, "Dice of the validation cases over the time of training");
}

}  // namespace voxswap::pipeline
