// Dice per region as boxes: a panel per grid, regions along the axis, one colour per group of runs; with one
// group, one per region, as in pictures of cases.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
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

// Quartiles of fewer values are mostly made up.
constexpr std::size_t least_values_of_a_box = 5;

using Group = std::pair<std::string, std::string>;  // resolution, setting

struct Layout {
  std::vector<std::string> grids, regions;
  std::vector<Group> groups;
  std::vector<std::vector<std::string>> tics;  // per region: the lines of its name
  std::size_t tic_lines = 1, tic_columns = 1;

  bool colors_are_regions() const { return groups.size() == 1; }
  std::size_t colors() const { return colors_are_regions() ? regions.size() : groups.size(); }
  std::size_t group_of(std::size_t color) const { return colors_are_regions() ? 0 : color; }
  bool has_color(const BoxRow& row, std::size_t color) const {
    return colors_are_regions() ? row.region == regions[color]
                                : Group(row.resolution, row.setting) == groups[color];
  }

  double slot() const { return 0.84 / static_cast<double>(groups.size()); }
  double box_width() const { return std::min(0.36, 0.76 * slot()); }
  double center(std::size_t region, std::size_t group) const {
    const double middle = (static_cast<double>(groups.size()) - 1) / 2;
    return static_cast<double>(region) + (static_cast<double>(group) - middle) * slot();
  }
  int region_pixels() const {
    const int count = static_cast<int>(groups.size());
    return std::max({90, count * (count > 6 ? 24 : 34) + 24, static_cast<int>(tic_columns) * 8 + 14});
  }
};

Layout lay_out(const std::vector<BoxRow>& boxes) {
  Layout layout;
  for (const BoxRow& box : boxes) {
    place(layout.grids, box.evaluated_at);
    place(layout.regions, box.region);
    place(layout.groups, {box.resolution, box.setting});
  }
  for (const std::string& region : layout.regions) {
    layout.tics.push_back(name_lines(region, 18));
    layout.tic_lines = std::max(layout.tic_lines, layout.tics.back().size());
    for (const std::string& line : layout.tics.back())
      layout.tic_columns = std::max(layout.tic_columns, letters(line));
  }
  return layout;
}

// Dice from 0 to 1; the lower part is left out where no value lies there.
double lowest_shown(const std::vector<BoxRow>& boxes) {
  double lowest = 1;
  for (const BoxRow& box : boxes) {
    if (box.statistics.n > 0) lowest = std::min(lowest, box.statistics.minimum);
  }
  return lowest < 0.25 ? 0 : std::min(0.8, std::floor(10 * (lowest - 0.03)) / 10);
}

std::string cases_text(const std::vector<BoxRow>& boxes) {
  std::size_t least = boxes.front().statistics.n, most = least;
  for (const BoxRow& box : boxes) {
    least = std::min(least, box.statistics.n);
    most = std::max(most, box.statistics.n);
  }
  return least == most ? format("n = {}", least) : format("n = {} to {}", least, most);
}

// Points beside each other instead of on top of each other: golden-ratio steps, the same in every picture.
double jitter(std::size_t index, double width) {
  const double step = 0.6180339887498949 * static_cast<double>(index + 1);
  return (step - std::floor(step) - 0.5) * 0.62 * width;
}

// A case among the dots.
struct Dot {
  std::string group, case_id;
  double value = 0;
};

// The data of one colour in one panel. Empty ones are left out.
struct Blocks {
  std::string boxes, cases, outliers, without_numbers;
  std::string few, medians_of_few;                     // where there are too few for a box
  std::vector<Dot> case_dots, outlier_dots, few_dots;  // what those three show, in their order
};
Blocks blocks(const Layout& layout, const std::vector<BoxRow>& boxes, std::size_t grid, std::size_t color,
              const std::string& name) {
  Blocks result;
  for (const BoxRow& row : boxes) {
    if (row.evaluated_at != layout.grids[grid] || !layout.has_color(row, color)) continue;
    const metrics::BoxStatistics& box = row.statistics;
    const auto region =
        std::find(layout.regions.begin(), layout.regions.end(), row.region) - layout.regions.begin();
    const double x = layout.center(static_cast<std::size_t>(region), layout.group_of(color));
    if (box.n == 0) {
      if (box.nan > 0) result.without_numbers += format("{}\n", x);
      continue;
    }
    const bool few = box.n < least_values_of_a_box;
    (few ? result.medians_of_few : result.boxes) +=
        format("{} {} {} {} {} {} {} {}\n", x, box.q1, box.whisker_low, box.whisker_high, box.q3,
               layout.box_width(), box.median, box.mean);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (std::isnan(row.values[i])) continue;
      const bool outside = row.values[i] < box.whisker_low || row.values[i] > box.whisker_high;
      (few       ? result.few
       : outside ? result.outliers
                 : result.cases) += format("{} {}\n", x + jitter(i, layout.box_width()), row.values[i]);
      (few       ? result.few_dots
       : outside ? result.outlier_dots
                 : result.case_dots)
          .push_back({name, i < row.cases.size() ? row.cases[i] : "", row.values[i]});
    }
  }
  return result;
}

std::string box_style(std::size_t color) {
  return format("lc rgb '{0}' lw 1.3 fs transparent solid 0.3 border lc rgb '{0}'", plot_color(color));
}

// Draws one colour of a panel; adds its data to `data` and its plot elements to `elements`.
void add_color(const Blocks& block, std::size_t grid, std::size_t index, std::string& data,
               std::vector<std::string>& elements) {
  const std::string color = plot_color(index);
  const auto define = [&](const char* kind, const std::string& lines) {
    const std::string name = format("${}_{}_{}", kind, grid, index);
    data += format("{} << END_OF_DATA\n{}END_OF_DATA\n", name, lines);
    return name;
  };
  if (!block.boxes.empty()) {
    const std::string box = define("box", block.boxes);
    elements.push_back(
        format("{} using 1:2:3:4:5:6 with candlesticks whiskerbars 0.5 {} notitle", box, box_style(index)));
    if (!block.cases.empty()) {
      elements.push_back(format("{} using 1:2 with points pt 7 ps 0.35*point lc rgb '#60{}' notitle",
                                define("case", block.cases), std::string(plot_ink).substr(1)));
    }
    if (!block.outliers.empty()) {
      elements.push_back(format("{} using 1:2 with points pt 6 ps 0.7*point lw 2 lc rgb '{}' notitle",
                                define("out", block.outliers), color));
    }
    // A candlestick of no height would leave a spike at its corner.
    elements.push_back(
        format("{} using ($1-$6/2):7:6:(0) with vectors nohead lc rgb '{}' lw 2.2 notitle", box, plot_ink));
    elements.push_back(
        format("{} using 1:8 with points pt 13 ps 0.75*point lc rgb '{}' notitle", box, plot_ink));
  }
  if (!block.few.empty()) {
    elements.push_back(format("{} using 1:2 with points pt 7 ps 0.8*point lc rgb '{}' notitle",
                              define("few", block.few), color));
    elements.push_back(format("{} using ($1-$6/2):7:6:(0) with vectors nohead lc rgb '{}' lw 2.2 notitle",
                              define("median", block.medians_of_few), plot_ink));
  }
  if (!block.without_numbers.empty()) {
    elements.push_back(
        format("{} using 1:(floor_y):('nan') with labels font small offset 0,0.5 textcolor rgb '{}' notitle",
               define("nan", block.without_numbers), color));
  }
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

// What the marks mean, of those that are drawn.
std::string marks_text(const std::vector<BoxRow>& boxes) {
  const auto is_box = [](const BoxRow& box) { return box.statistics.n >= least_values_of_a_box; };
  const auto is_few = [&](const BoxRow& box) { return box.statistics.n > 0 && !is_box(box); };
  std::string text;
  if (std::any_of(boxes.begin(), boxes.end(), is_box))
    text = "box: quartiles   bar: median   diamond: mean   whiskers: 1.5 IQR   dots: cases";
  if (std::any_of(boxes.begin(), boxes.end(), is_few))
    text += format("{}{} for a box: large dots: cases   bar: median", text.empty() ? "" : "\n",
                   text.empty() ? "too few cases" : "where there are too few cases");
  return text;
}

std::string tics_text(const Layout& layout) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < layout.regions.size(); ++i)
    tics.push_back(format("{} {}", gnuplot_tic(join(layout.tics[i], "\n")), i));
  return join(tics, ", ");
}

// In the SVG every dot says whose it is where it is pointed at, and to the script of a page. gnuplot draws
// points in the order of their data: circles, full or not. Without one for every case nothing is said.
void name_dots(std::string& svg, const std::vector<Dot>& dots) {
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

Picture box_plot(const std::vector<BoxRow>& rows, const std::vector<RunGroup>& groups) {
  std::vector<BoxRow> boxes;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(boxes),
               [](const BoxRow& row) { return row.metric == "dice"; });
  if (boxes.empty()) boxes.emplace_back().evaluated_at = "native";
  const Layout layout = lay_out(boxes);
  const std::size_t panels = layout.grids.size();
  const int width = std::max(520, 80 + static_cast<int>(layout.regions.size()) * layout.region_pixels());
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; layout.groups.size() > 1 && i < layout.groups.size(); ++i)
    entries.push_back(
        {group_name(groups, layout.groups[i].first, layout.groups[i].second), "boxes " + box_style(i)});
  const Legend legend(entries, width - 40);

  const double panel_height = panels > 1 ? 280 : 340, panel_top = panels > 1 ? 26 : 0;
  const double tics_height = 12 + 17 * static_cast<double>(layout.tic_lines);
  const int top = (panels > 1 ? 36 : 44) + legend.height();
  const double step = panel_top + panel_height + tics_height + 6;
  const std::string marks = marks_text(boxes);
  const int mark_lines = 1 + static_cast<int>(std::count(marks.begin(), marks.end(), '\n'));
  const int height = top + static_cast<int>(step * static_cast<double>(panels)) + 11 + 15 * mark_lines;
  const double lowest = lowest_shown(boxes);
  std::string data, plots;
  std::vector<Dot> dots;  // in the order in which they are drawn
  for (std::size_t grid = 0; grid < panels; ++grid) {
    std::vector<std::string> elements;
    for (std::size_t color = 0; color < layout.colors(); ++color) {
      const auto& [resolution, setting] = layout.groups[layout.group_of(color)];
      const Blocks block = blocks(layout, boxes, grid, color, group_name(groups, resolution, setting));
      add_color(block, grid, color, data, elements);
      for (const std::vector<Dot>* of : {&block.case_dots, &block.outlier_dots, &block.few_dots})
        dots.insert(dots.end(), of->begin(), of->end());
    }
    elements.push_back("-1 notitle");  // something to draw where every value is NaN
    const double begin = top + step * static_cast<double>(grid) + panel_top;
    plots += panel_place(begin, begin + panel_height, height);
    if (panels > 1) {
      plots += format("set title {} textcolor rgb '{}' offset 0,-0.5\n",
                      gnuplot_text(grid_title(layout.grids[grid])), plot_ink);
    }
    plots += format("plot {}\nunset label\n", join(elements, ", "));
  }
  const auto label = [&](int id, const std::string& text, double y, const char* font) {
    return format("set label {} {} at screen 0.5,{} center {} textcolor rgb '{}'\n", id, gnuplot_text(text),
                  1 - y / height, font, plot_ink);
  };
  const std::string script =
      data + format("floor_y = {}\n", lowest) + side_margins(56, 16, width) +
      label(1, heading(layout, boxes), 18, "") + label(2, marks, height + 3 - 15 * mark_lines, "font small") +
      format("set xrange [-0.5:{}]\nset yrange [{}:1]\nset ytics {}\nset xtics scale 0 ({})\n",
             static_cast<double>(layout.regions.size()) - 0.5, lowest, lowest >= 0.6 ? 0.05 : 0.1,
             tics_text(layout)) +
      "unset key\nset multiplot\n" + plots + legend.plot(30, width, height) + "unset multiplot\n";
  Picture picture = draw(script, width, height, heading(layout, boxes));
  name_dots(picture.svg, dots);
  return picture;
}

}  // namespace voxswap::pipeline
