// Box plots of Dice per region: a panel per grid, regions along the x axis, one colour per group of runs or,
// with a single group, per region as in pictures of cases.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/dice_axis.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

template <class T>
std::size_t place(std::vector<T>& seen, const std::type_identity_t<T>& wanted) {
  const auto found = std::find(seen.begin(), seen.end(), wanted);
  if (found != seen.end()) return static_cast<std::size_t>(found - seen.begin());
  seen.push_back(wanted);
  return seen.size() - 1;
}

// Quartiles of fewer values are mostly interpolated.
constexpr std::size_t least_values_of_a_box = 5;

using GroupKey = std::pair<std::string, std::string>;  // resolution, setting

struct Layout {
  std::vector<std::string> grids, regions;
  std::vector<GroupKey> groups;

  explicit Layout(const std::vector<BoxRow>& boxes) {
    for (const BoxRow& box : boxes) {
      place(grids, box.evaluated_at);
      place(regions, box.region);
      place(groups, {box.resolution, box.setting});
    }
  }
  bool colors_are_regions() const { return groups.size() == 1; }
  // Index of the box's region or group, which has a colour of its own.
  std::size_t series_of(const BoxRow& box) const {
    if (colors_are_regions())
      return static_cast<std::size_t>(std::find(regions.begin(), regions.end(), box.region) -
                                      regions.begin());
    const GroupKey key{box.resolution, box.setting};
    return static_cast<std::size_t>(std::find(groups.begin(), groups.end(), key) - groups.begin());
  }
  std::vector<std::string> region_titles() const {
    std::vector<std::string> titles;
    for (const std::string& region : regions) titles.push_back(with_spaces(region));
    return titles;
  }
  double slot() const { return 0.84 / static_cast<double>(groups.size()); }
  double box_width() const { return std::min(0.36, 0.76 * slot()); }
  double center(std::size_t region, std::size_t group) const {
    const double middle = (static_cast<double>(groups.size()) - 1) / 2;
    return static_cast<double>(region) + (static_cast<double>(group) - middle) * slot();
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
  std::vector<const BoxRow*> rows;
};

// Adds a series to a panel. `dots` receives the dots in drawing order.
void add_series(Figure& figure, Panel& panel, const BoxSeries& series, const Layout& layout,
                std::size_t index, std::vector<CaseDot>& dots) {
  std::string boxes, few_boxes, without_numbers, lines[3];
  std::vector<CaseDot> of[3];  // cases, outliers, cases of groups too small for a box
  for (const BoxRow* row : series.rows) {
    const metrics::BoxStatistics& box = row->statistics;
    const auto region = std::find(layout.regions.begin(), layout.regions.end(), row->region);
    const double x = layout.center(static_cast<std::size_t>(region - layout.regions.begin()),
                                   layout.colors_are_regions() ? 0 : index);
    if (box.n == 0) {
      if (box.nan > 0) without_numbers += format("{}\n", x);
      continue;
    }
    const bool few = box.n < least_values_of_a_box;
    (few ? few_boxes : boxes) += format("{} {} {} {} {} {} {} {}\n", x, box.q1, box.whisker_low,
                                        box.whisker_high, box.q3, layout.box_width(), box.median, box.mean);
    for (std::size_t i = 0; i < row->values.size(); ++i) {
      const double value = row->values[i];
      if (std::isnan(value)) continue;
      const int kind = few ? 2 : value < box.whisker_low || value > box.whisker_high ? 1 : 0;
      lines[kind] += format("{} {}\n", x + jitter(i, layout.box_width()), value);
      of[kind].push_back({series.group_name, i < row->cases.size() ? row->cases[i] : "", value});
    }
  }
  const std::string &color = series.color, ink = std::string(plot_ink).substr(1);
  const auto add = [&](const std::string& data, const char* columns, const std::string& style) {
    panel.elements.push_back(element(data, columns, style));
  };
  const auto add_dots = [&](int kind, const std::string& style) {
    if (!lines[kind].empty()) add(figure.add_data(lines[kind]), "1:2", style);
    dots.insert(dots.end(), of[kind].begin(), of[kind].end());
  };
  // Draws medians as vectors: a candlestick of height 0 would leave a spike at its corner.
  const auto add_medians = [&](const std::string& data) {
    add(data, "($1-$6/2):7:6:(0)", format("vectors nohead lc rgb '{}' lw 2.2", plot_ink));
  };
  if (!boxes.empty()) {
    const std::string data = figure.add_data(boxes);
    add(data, "1:2:3:4:5:6", "candlesticks whiskerbars 0.5 " + box_style(color));
    add_dots(0, format("points pt 7 ps 0.55*point lc rgb '#60{}'", ink));
    add_dots(1, format("points pt 6 ps 0.8*point lw 2 lc rgb '{}'", color));
    add_medians(data);
    add(data, "1:8", format("points pt 13 ps 0.75*point lc rgb '{}'", plot_ink));
  }
  if (!few_boxes.empty()) {
    add_dots(2, format("points pt 7 ps point lc rgb '{}'", color));
    add_medians(figure.add_data(few_boxes));
  }
  if (!without_numbers.empty())
    add(figure.add_data(without_numbers), format("1:({}):('no score')", panel.y.range.low).c_str(),
        format("labels font small offset 0,0.5 textcolor rgb '{}'", color));
}

// One series per group or, with a single group, per region; without rows.
std::vector<BoxSeries> series_of(const Layout& layout, const std::vector<RunGroup>& groups) {
  std::vector<BoxSeries> all;
  const std::size_t count = layout.colors_are_regions() ? layout.regions.size() : layout.groups.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [resolution, setting] = layout.groups[layout.colors_are_regions() ? 0 : i];
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const RunGroup& group) {
      return group.resolution == resolution && group.setting == setting;
    });
    const std::string color = layout.colors_are_regions() ? plot_color(i)
                              : known == groups.end()
                                  ? series_color(i)
                                  : group_color(groups, static_cast<std::size_t>(known - groups.begin()));
    all.push_back({color, group_name(groups, resolution, setting), {}});
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
  if (std::any_of(boxes.begin(), boxes.end(), is_box))
    text = "box: quartiles   line: median   diamond: mean   whiskers: 1.5 IQR   dots: cases";
  if (std::any_of(boxes.begin(), boxes.end(), is_few))
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
  if (static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_dot)) != dots.size()) return;
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
  std::vector<BoxRow> boxes;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(boxes),
               [](const BoxRow& row) { return row.metric == "dice"; });
  if (boxes.empty()) boxes.emplace_back().evaluated_at = "native";
  const Layout layout(boxes);
  const bool several = layout.grids.size() > 1;
  Figure figure{
      .title = heading(layout, boxes),
      .width = std::max({520, width, 96 + static_cast<int>(layout.regions.size()) * layout.region_pixels()}),
      .heading = heading(layout, boxes),
      .note = marks_text(boxes)};
  const std::vector<BoxSeries> all = series_of(layout, groups);
  for (std::size_t i = 0; !layout.colors_are_regions() && i < all.size(); ++i)
    figure.legend.push_back({all[i].group_name, "boxes " + box_style(all[i].color)});
  std::vector<CaseDot> dots;
  for (const std::string& grid : layout.grids) {
    Panel panel{.title = several ? grid_title(grid) : "",
                .x = name_axis(layout.region_titles(), layout.region_pixels()),
                .y = dice_axis(boxes),
                .height = several ? 280 : 340};
    for (std::size_t i = 0; i < all.size(); ++i) {
      BoxSeries series = all[i];
      for (const BoxRow& box : boxes)
        if (box.evaluated_at == grid && layout.series_of(box) == i) series.rows.push_back(&box);
      add_series(figure, panel, series, layout, i, dots);
    }
    panel.elements.push_back("-1 notitle");  // gnuplot needs an element even if every value is NaN
    figure.panels.push_back(std::move(panel));
  }
  Picture picture = figure.draw();
  name_dots(picture.svg, dots);
  return picture;
}

}  // namespace voxswap::pipeline
