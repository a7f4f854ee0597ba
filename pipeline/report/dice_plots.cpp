// Plots of Dice per region. Box plots: a panel per grid, regions along the x axis, one colour per group of
// runs or, with a single group, per region as in pictures of cases. Means of every group of runs, with
// intervals and a thin line per case that pairs its scores, with resolutions drawn to scale.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/xml.h"
#include "metrics/paired_test.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

std::vector<BoxRow> dice_of(std::vector<BoxRow> boxes) {
  std::erase_if(boxes, [](const BoxRow& box) { return box.metric != "dice"; });
  return boxes;
}

// An axis that ends at 1; its lower part is cut off where there are no values.
Axis dice_axis(const std::vector<BoxRow>& boxes) {
  double lowest = 1;
  for (const BoxRow& box : boxes)
    if (box.statistics.n > 0) lowest = std::min(lowest, box.statistics.minimum);
  const double low = lowest < 0.25 ? 0 : std::min(0.8, std::floor(10 * (lowest - 0.03)) / 10);
  return {{low, 1}, low >= 0.6 ? "0.05" : "0.1", "Dice"};
}

// Quartiles of fewer values are mostly interpolated.
constexpr std::size_t least_values_of_a_box = 5;

struct PlacedBox {
  const BoxRow* row;
  std::size_t grid, region, group;  // indices in the layout
};

struct Layout {
  std::vector<std::string> grids, regions;
  std::vector<std::pair<std::string, std::string>> groups;  // resolution, setting
  std::vector<PlacedBox> boxes;

  explicit Layout(const std::vector<BoxRow>& rows) {
    for (const BoxRow& row : rows)
      boxes.push_back({&row, place_in(grids, row.evaluated_at), place_in(regions, row.region),
                       place_in(groups, {row.resolution, row.setting})});
  }
  // Regions or groups have colours of their own.
  bool colors_are_regions() const { return groups.size() == 1; }
  std::size_t series() const { return colors_are_regions() ? regions.size() : groups.size(); }
  std::size_t series_of(const PlacedBox& box) const { return colors_are_regions() ? box.region : box.group; }
  std::vector<std::string> region_titles() const {
    std::vector<std::string> titles;
    std::ranges::transform(regions, std::back_inserter(titles), with_spaces);
    return titles;
  }
  double slot() const { return 0.84 / static_cast<double>(groups.size()); }
  double box_width() const { return std::min(0.36, 0.76 * slot()); }
  double center(const PlacedBox& box) const {
    const double middle = (static_cast<double>(groups.size()) - 1) / 2;
    return static_cast<double>(box.region) + (static_cast<double>(box.group) - middle) * slot();
  }
  int region_pixels() const {
    const int count = static_cast<int>(groups.size());
    return std::max({90, count * (count > 6 ? 24 : 34) + 24, pixels_of_names(regions) + 14});
  }
};

std::string cases_text(const std::vector<BoxRow>& boxes) {
  std::size_t least = boxes.front().statistics.n, most = least;
  for (const BoxRow& box : boxes) {
    least = std::min(least, box.statistics.n);
    most = std::max(most, box.statistics.n);
  }
  return least == most ? format("n = {}", least) : format("n = {} to {}", least, most);
}

// Deterministic horizontal jitter by golden-ratio steps, to keep points apart.
double jitter(std::size_t index, double width) {
  const double step = 0.6180339887498949 * static_cast<double>(index + 1);
  return (step - std::floor(step) - 0.5) * 0.62 * width;
}

// A dot and its case.
struct CaseDot {
  std::string group, case_id;
  double value = 0;
};

std::string box_style(const std::string& color) {
  return format("lc rgb '{0}' lw 1.3 fs transparent solid 0.3 border lc rgb '{0}'", color);
}

// A group of runs, or a region of the only group.
struct BoxSeries {
  std::string color, group_name;
};

// Adds the boxes of a series on a grid to a panel. `dots` receives the dots in drawing order.
void add_series(Figure& figure, Panel& panel, const BoxSeries& series, const Layout& layout, std::size_t grid,
                std::size_t index, std::vector<CaseDot>& dots) {
  std::string boxes, few_boxes, without_numbers, lines[3];
  std::vector<CaseDot> of[3];  // cases, outliers, cases of groups too small for a box
  for (const PlacedBox& placed : layout.boxes) {
    if (placed.grid != grid || layout.series_of(placed) != index) continue;
    const BoxRow& row = *placed.row;
    const metrics::BoxStatistics& box = row.statistics;
    const double x = layout.center(placed);
    if (box.n == 0) {
      if (box.nan > 0) without_numbers += format("{}\n", x);
      continue;
    }
    const bool few = box.n < least_values_of_a_box;
    (few ? few_boxes : boxes) += format("{} {} {} {} {} {} {} {}\n", x, box.q1, box.whisker_low,
                                        box.whisker_high, box.q3, layout.box_width(), box.median, box.mean);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double value = row.values[i];
      if (std::isnan(value)) continue;
      const int kind = few ? 2 : value < box.whisker_low || value > box.whisker_high ? 1 : 0;
      lines[kind] += format("{} {}\n", x + jitter(i, layout.box_width()), value);
      const std::string name = i < row.cases.size() ? row.cases[i] : "";  // same_data.h extends it
      of[kind].push_back({series.group_name, name.substr(0, name.find('\n')), value});
    }
  }
  const std::string &color = series.color, ink = std::string(plot_ink).substr(1);
  const auto add_dots = [&](int kind, const std::string& style) {
    if (!lines[kind].empty()) figure.add(panel, lines[kind], "1:2", style);
    append(dots, of[kind]);
  };
  // Draws medians as vectors: a candlestick of height 0 would leave a spike at its corner.
  const auto add_medians = [&](const std::string& data) {
    panel.draw(data, "($1-$6/2):7:6:(0)", format("vectors nohead lc rgb '{}' lw 2.2", plot_ink));
  };
  if (!boxes.empty()) {
    const std::string data = figure.add_data(boxes);
    panel.draw(data, "1:2:3:4:5:6", "candlesticks whiskerbars 0.5 " + box_style(color));
    add_dots(0, format("points pt 7 ps 0.55*point lc rgb '#60{}'", ink));
    add_dots(1, format("points pt 6 ps 0.8*point lw 2 lc rgb '{}'", color));
    add_medians(data);
    panel.draw(data, "1:8", format("points pt 13 ps 0.75*point lc rgb '{}'", plot_ink));
  }
  if (!few_boxes.empty()) {
    add_dots(2, format("points pt 7 ps point lc rgb '{}'", color));
    add_medians(figure.add_data(few_boxes));
  }
  if (!without_numbers.empty())
    figure.add(panel, without_numbers, format("1:({}):('no score')", panel.y.range.low),
               format("labels font small offset 0,0.5 textcolor rgb '{}'", color));
}

// One series per group or, with a single group, per region.
std::vector<BoxSeries> series_of(const Layout& layout, const std::vector<RunGroup>& groups) {
  std::vector<BoxSeries> all;
  for (std::size_t i = 0; i < layout.series(); ++i) {
    const auto& [resolution, setting] = layout.groups[layout.colors_are_regions() ? 0 : i];
    const std::size_t group = group_with(groups, resolution, setting);
    const bool known = group < groups.size();
    const std::string color = layout.colors_are_regions() ? plot_color(i)
                              : known                     ? group_color(groups, group)
                                                          : series_color(i);
    all.push_back({color, known ? groups[group].label : group_label(resolution, setting)});
  }
  return all;
}

std::string heading(const Layout& layout, const std::vector<BoxRow>& boxes) {
  std::string title = format("Dice per region, {}", cases_text(boxes));
  if (const std::string label = group_label(layout.groups[0].first, layout.groups[0].second);
      layout.groups.size() == 1 && !label.empty())
    title += format(", resolution {}", label);
  if (layout.grids.size() == 1) title += format(", {} grid", layout.grids[0]);
  return title;
}

std::string grid_title(const std::string& grid) {
  return grid == "native" || grid == "training" ? format("on the {} grid", grid) : format("at {}", grid);
}

// Legend of the marks that occur.
std::string marks_text(const std::vector<BoxRow>& boxes) {
  const auto is_box = [](const BoxRow& box) { return box.statistics.n >= least_values_of_a_box; };
  const auto is_few = [&](const BoxRow& box) { return box.statistics.n > 0 && !is_box(box); };
  std::string text;
  if (std::ranges::any_of(boxes, is_box))
    text = "box: quartiles   line: median   diamond: mean   whiskers: 1.5 IQR   dots: cases";
  if (std::ranges::any_of(boxes, is_few))
    text += format("{}fewer than {}: large dots: cases   line: median", text.empty() ? "" : "\n",
                   counted(least_values_of_a_box, "case"));
  return text;
}

// Adds case names to the SVG's dots, as tooltips and for the page's script. gnuplot draws points in the order
// of their data, as filled or open circles. Does nothing if the numbers do not match.
void name_dots(std::string& svg, const std::vector<CaseDot>& dots) {
  std::vector<std::string> lines = split(svg, '\n');
  const auto is_dot = [](const std::string& line) {
    return line.find("#gpPt6' transform='translate(") != line.npos ||
           line.find("#gpPt5' transform='translate(") != line.npos;
  };
  if (std::ranges::count_if(lines, is_dot) != std::ssize(dots)) return;
  auto dot = dots.begin();
  for (std::string& line : lines) {
    if (!is_dot(line)) continue;
    if (!dot->case_id.empty())
      line = format("<g data-case=\"{0}\" data-group=\"{1}\"><title>{0}: {2:.3f}</title>{3}</g>",
                    xml_escaped(dot->case_id), xml_escaped(dot->group), dot->value, trim(line));
    ++dot;
  }
  svg = join(lines, "\n");
}

}  // namespace

Picture box_plot(const std::vector<BoxRow>& rows, const std::vector<RunGroup>& groups, int width) {
  std::vector<BoxRow> boxes = dice_of(rows);
  if (boxes.empty()) boxes.emplace_back().evaluated_at = "native";
  const Layout layout(boxes);
  const bool several = layout.grids.size() > 1;
  Figure figure{
      .title = heading(layout, boxes),
      .width = std::max({520, width, 96 + static_cast<int>(layout.regions.size()) * layout.region_pixels()}),
      .heading = heading(layout, boxes),
      .note = marks_text(boxes)};
  const std::vector<BoxSeries> all = series_of(layout, groups);
  if (!layout.colors_are_regions())
    for (const BoxSeries& series : all)
      figure.legend.push_back({series.group_name, "boxes " + box_style(series.color)});
  std::vector<CaseDot> dots;
  for (std::size_t grid = 0; grid < layout.grids.size(); ++grid) {
    Panel panel{.title = several ? grid_title(layout.grids[grid]) : "",
                .x = name_axis(layout.region_titles(), layout.region_pixels()),
                .y = dice_axis(boxes),
                .height = several ? 280 : 340};
    for (std::size_t i = 0; i < all.size(); ++i) add_series(figure, panel, all[i], layout, grid, i, dots);
    panel.elements.push_back(empty_element);
    figure.panels.push_back(std::move(panel));
  }
  Picture picture = figure.draw();
  name_dots(picture.svg, dots);
  return picture;
}

namespace {

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
  Panel panel{.title = figure.fitting(with_spaces(region)), .x = places.axis, .height = 220};
  const std::string color = plot_color(index), means = means_of(boxes, places.at),
                    cases = lines_of_cases(boxes, places.at);
  if (!cases.empty())
    figure.add(panel, cases, "1:2",
               format("linespoints pt 7 ps 0.45*point lw 0.7 lc rgb '#a0{}'", color.substr(1)));
  if (!means.empty()) {
    const std::string data = figure.add_data(means);
    if (is_resolution) panel.draw(data, "1:2", format("lines lw 2.4 lc rgb '{}'", color));
    panel.draw(data, "1:2:3:4", format("yerrorbars pt 7 ps 0.8*point lw 2.4 lc rgb '{}'", color));
  }
  panel.elements.push_back(empty_element);
  return panel;
}

}  // namespace

Picture dice_plot(const std::vector<BoxRow>& rows, const std::vector<RunGroup>& groups, int width) {
  constexpr std::size_t most_regions = 6, most_columns = 3;
  std::vector<BoxRow> boxes = dice_of(rows);
  std::erase_if(boxes, [&](const BoxRow& box) { return box.evaluated_at != rows.front().evaluated_at; });
  if (boxes.empty() || groups.size() < 2) return {};
  std::vector<std::string> regions = distinct(boxes, &BoxRow::region);
  const std::size_t left_out = regions.size() - std::min(regions.size(), most_regions);
  regions.resize(regions.size() - left_out);
  const bool is_resolution = differ_in_resolution_only(groups);
  Figure figure{.title = is_resolution ? "Dice against resolution" : "Dice of every setting",
                .left_margin = 68,
                .note = "dots: means with 95 % bootstrap intervals\nthin lines: cases, means over repeats"};
  figure.set_columns(std::min(regions.size(), most_columns), width);
  if (left_out > 0) figure.note += format("\n{} more: see the table", counted(left_out, "region"));
  const Places places = places_of(groups, figure.panel_width());
  const Axis dice = dice_axis(boxes);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    OfGroups of(groups.size(), nullptr);
    for (const BoxRow& box : boxes)
      if (const std::size_t group = group_with(groups, box.resolution, box.setting);
          box.region == regions[i] && group < groups.size())
        of[group] = &box;
    Panel panel = region_panel(figure, regions[i], i, of, places, is_resolution);
    panel.y = figure.shared(dice);
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
