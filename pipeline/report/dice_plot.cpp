// Dice per region of every group of runs: means with intervals, and a thin line per case that pairs its
// scores. Resolutions are drawn to scale.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "metrics/paired_test.h"
#include "pipeline/report/dice_axis.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t most_regions = 6, most_columns = 3;

// The x axis, and the position of each group on it.
struct Places {
  Axis axis;
  std::vector<double> at;
};

Places places_of(const std::vector<RunGroup>& groups, double pixels) {
  const GroupLabels names(groups);
  Places places;
  Range range;
  for (const RunGroup& group : groups) {
    places.at.push_back(voxels_per_side(group.resolution));
    range.include(places.at.back());
  }
  const Range shown = range.padded();
  bool apart = differ_in_resolution_only(groups);
  for (std::size_t i = 1; i < groups.size(); ++i)
    apart = apart && (places.at[i] - places.at[i - 1]) / (shown.high - shown.low) * pixels >
                         pixels_of_names({names.names[i]});
  if (!apart) {
    for (std::size_t i = 0; i < groups.size(); ++i) places.at[i] = static_cast<double>(i);
    places.axis = name_axis(names.names, pixels / static_cast<double>(groups.size()), names.axis);
    return places;
  }
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < groups.size(); ++i)
    tics.push_back(format("{} {}", gnuplot_tic(names.names[i]), places.at[i]));
  places.axis = {shown, format("({})", join(tics, ", ")), names.axis};
  return places;
}

// The boxes of a region: one per group, null if a group has none.
using OfGroups = std::vector<const BoxRow*>;

std::string lines_of_cases(const OfGroups& boxes, const std::vector<double>& at) {
  std::map<std::string, std::string> lines;
  for (std::size_t group = 0; group < boxes.size(); ++group)
    for (std::size_t i = 0; boxes[group] && i < boxes[group]->cases.size(); ++i)
      if (const double value = boxes[group]->values[i]; !std::isnan(value))
        lines[boxes[group]->cases[i]] += format("{} {}\n", at[group], value);
  std::string data;
  for (const auto& [id, points] : lines) data += points + "\n";
  return data;
}

std::string means_of(const OfGroups& boxes, const std::vector<double>& at) {
  std::string data;
  for (std::size_t group = 0; group < boxes.size(); ++group) {
    if (!boxes[group] || boxes[group]->statistics.n == 0) continue;
    const double mean = boxes[group]->statistics.mean;
    const metrics::Interval interval = metrics::bootstrap_mean(boxes[group]->values);
    const bool one = std::isnan(interval.low);
    data += format("{} {} {} {}\n", at[group], mean, one ? mean : interval.low, one ? mean : interval.high);
  }
  return data;
}

Panel region_panel(Figure& figure, const std::string& region, std::size_t index, const OfGroups& boxes,
                   const Places& places, bool is_resolution) {
  Panel panel{
      .title = shortened(with_spaces(region), static_cast<std::size_t>(figure.width / figure.columns) / 8),
      .x = places.axis,
      .height = 220};
  const std::string color = plot_color(index), means = means_of(boxes, places.at),
                    cases = lines_of_cases(boxes, places.at);
  if (!cases.empty())
    panel.elements.push_back(
        element(figure.add_data(cases), "1:2",
                format("linespoints pt 7 ps 0.45*point lw 0.7 lc rgb '#a0{}'", color.substr(1))));
  if (!means.empty()) {
    const std::string data = figure.add_data(means);
    if (is_resolution)
      panel.elements.push_back(element(data, "1:2", format("lines lw 2.4 lc rgb '{}'", color)));
    panel.elements.push_back(
        element(data, "1:2:3:4", format("yerrorbars pt 7 ps 0.8*point lw 2.4 lc rgb '{}'", color)));
  }
  panel.elements.push_back("-1 notitle");  // gnuplot needs an element even if every value is NaN
  return panel;
}

}  // namespace

Picture dice_plot(const std::vector<BoxRow>& rows, const std::vector<RunGroup>& groups, int width) {
  std::vector<BoxRow> boxes;
  std::vector<std::string> regions;
  for (const BoxRow& box : rows) {
    if (box.metric != "dice" || box.evaluated_at != rows.front().evaluated_at) continue;
    boxes.push_back(box);
    if (std::find(regions.begin(), regions.end(), box.region) == regions.end()) regions.push_back(box.region);
  }
  if (boxes.empty() || groups.size() < 2) return {};
  const bool is_resolution = differ_in_resolution_only(groups);
  const std::size_t shown = std::min(regions.size(), most_regions);
  Figure figure{.title = is_resolution ? "Dice against resolution" : "Dice of every setting",
                .left_margin = 68,
                .note = "dots: means with 95 % bootstrap intervals\nthin lines: cases, means over repeats"};
  figure.columns = static_cast<int>(std::min(shown, most_columns));
  figure.width = width > 0 ? width : figure.columns == 1 ? 420 : 690;
  if (shown < regions.size())
    figure.note += format("\n{} more: see the table", counted(regions.size() - shown, "region"));
  const Places places = places_of(groups, figure.panel_width());
  const Axis dice = dice_axis(boxes);
  for (std::size_t i = 0; i < shown; ++i) {
    OfGroups of(groups.size(), nullptr);
    for (const BoxRow& box : boxes)
      for (std::size_t group = 0; group < groups.size(); ++group)
        if (box.region == regions[i] && box.resolution == groups[group].resolution &&
            box.setting == groups[group].setting)
          of[group] = &box;
    Panel panel = region_panel(figure, regions[i], i, of, places, is_resolution);
    panel.y = dice;
    share_axis(panel.y, i % static_cast<std::size_t>(figure.columns));
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
