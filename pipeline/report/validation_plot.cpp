// Dice of the validation cases over training time: a panel per region, a line per run and repeat, a colour
// per group of runs or, with a single group, per region.
#include <algorithm>

#include "base/text.h"
#include "pipeline/report/curves.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups,
                        int width) {
  std::vector<std::string> regions;  // in the order of the table
  Range seconds;
  for (const ValidationRow& row : rows) {
    seconds.include(row.trained_seconds);
    if (std::find(regions.begin(), regions.end(), row.region) == regions.end()) regions.push_back(row.region);
  }
  const double unit = seconds.high < 120 ? 1 : 60;
  Axis time = axis_from_zero(seconds.high / unit, 5);
  time.title = unit > 1 ? "minutes of training" : "seconds of training";
  Figure figure{.title = "Validation Dice over training time",
                .heading = "Mean validation Dice, training grid",
                .legend = group_legend(groups)};
  figure.columns = regions.size() == 4 ? 2 : static_cast<int>(std::min(regions.size(), std::size_t{3}));
  figure.width = std::max(figure.columns == 1 ? 520 : 690, width);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    Panel panel{
        shortened(with_spaces(regions[i]), static_cast<std::size_t>(figure.width / figure.columns) / 8), time,
        number_axis({0, 1}, 5, "Dice")};
    std::vector<ValidationRow> of_region;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(of_region),
                 [&](const ValidationRow& row) { return row.region == regions[i]; });
    add_curves(
        figure, panel, of_region, groups,
        [&](const ValidationRow& row) { return row.trained_seconds / unit; }, &ValidationRow::dice,
        [&](std::size_t group) {
          return format("linespoints lc rgb '{}' lw 1.4 pt 7 ps 0.35",
                        groups.size() == 1 ? plot_color(i) : group_color(groups, group));
        });
    panel.elements.push_back("-1 notitle");  // gnuplot needs an element even if every value is NaN
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
