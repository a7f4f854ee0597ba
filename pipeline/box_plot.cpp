// Dice per region as boxes: regions along the axis, one colour per resolution and grid.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "pipeline/gnuplot.h"
#include "pipeline/plots.h"

namespace voxswap {

namespace {

using Setting = std::pair<std::string, std::string>;  // resolution, evaluated_at

struct Layout {
  std::vector<std::string> regions;
  std::vector<Setting> settings;
  std::vector<std::vector<std::string>> tics;  // per region: the lines of its name
  std::size_t tic_lines = 1, tic_columns = 1;
  bool grids_differ = false;

  double slot() const { return 0.84 / static_cast<double>(settings.size()); }
  double box_width() const { return std::min(0.36, 0.76 * slot()); }
  double center(std::size_t region, std::size_t setting) const {
    const double middle = (static_cast<double>(settings.size()) - 1) / 2;
    return static_cast<double>(region) + (static_cast<double>(setting) - middle) * slot();
  }
};

// "enhancing_tumor" in lines of at most `columns` characters, broken after '_', '-' and ' ' where there is
// one.
std::vector<std::string> wrapped(const std::string& name, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::string word;
  const auto end_word = [&] {
    if (!lines.back().empty() && lines.back().size() + word.size() > columns) lines.emplace_back();
    lines.back() += word;
    word.clear();
  };
  for (const char c : name) {
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // inside UTF-8
    if (word.size() >= columns && !continues_character) end_word();
    word += c;
    if (c == '_' || c == '-' || c == ' ') end_word();
  }
  end_word();
  return lines;
}

template <class T>
std::size_t place(std::vector<T>& seen, const T& wanted) {
  const auto found = std::find(seen.begin(), seen.end(), wanted);
  if (found != seen.end()) return static_cast<std::size_t>(found - seen.begin());
  seen.push_back(wanted);
  return seen.size() - 1;
}

Layout lay_out(const std::vector<BoxRow>& boxes) {
  Layout layout;
  for (const BoxRow& box : boxes) {
    place(layout.regions, box.region);
    place(layout.settings, {box.resolution, box.evaluated_at});
  }
  for (const Setting& setting : layout.settings) {
    if (setting.second != layout.settings.front().second) layout.grids_differ = true;
  }
  for (const std::string& region : layout.regions) {
    layout.tics.push_back(wrapped(region, 18));
    layout.tic_lines = std::max(layout.tic_lines, layout.tics.back().size());
    for (const std::string& line : layout.tics.back()) {
      layout.tic_columns = std::max(layout.tic_columns, line.size());
    }
  }
  return layout;
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

// The data blocks of one colour: $boxN (a line per region), $caseN, $outN. Empty blocks are left out.
struct Blocks {
  std::string boxes, cases, outliers;
};
Blocks blocks(const Layout& layout, const std::vector<BoxRow>& boxes, std::size_t setting) {
  Blocks result;
  for (const BoxRow& row : boxes) {
    if (Setting(row.resolution, row.evaluated_at) != layout.settings[setting] || row.statistics.n == 0)
      continue;
    const BoxStatistics& box = row.statistics;
    const auto region =
        std::find(layout.regions.begin(), layout.regions.end(), row.region) - layout.regions.begin();
    const double x = layout.center(static_cast<std::size_t>(region), setting);
    result.boxes += format("{} {} {} {} {} {} {} {}\n", x, box.q1, box.whisker_low, box.whisker_high, box.q3,
                           layout.box_width(), box.median, box.mean);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (std::isnan(row.values[i])) continue;
      const bool outside = row.values[i] < box.whisker_low || row.values[i] > box.whisker_high;
      (outside ? result.outliers : result.cases) +=
          format("{} {}\n", x + jitter(i, layout.box_width()), row.values[i]);
    }
  }
  return result;
}

std::string setting_text(const Layout& layout, std::size_t setting) {
  const auto& [resolution, grid] = layout.settings[setting];
  if (resolution.empty()) return grid;
  return layout.grids_differ ? format("{} at {}", resolution, grid) : resolution;
}

// Draws one colour; adds its data to `data` and its plot elements to `elements`.
void add_setting(const Layout& layout, const std::vector<BoxRow>& boxes, std::size_t setting,
                 std::string& data, std::vector<std::string>& elements) {
  const Blocks block = blocks(layout, boxes, setting);
  if (block.boxes.empty()) return;
  const std::string color = plot_color(setting, layout.settings.size());
  const auto define = [&](const char* name, const std::string& lines) {
    data += format("${}{} << END_OF_DATA\n{}END_OF_DATA\n", name, setting, lines);
  };
  define("box", block.boxes);
  const std::string fill = format("lc rgb '{0}' lw 1.3 fs transparent solid 0.3 border lc rgb '{0}'", color);
  elements.push_back(
      format("$box{} using 1:2:3:4:5:6 with candlesticks whiskerbars 0.5 {} notitle", setting, fill));
  if (!block.cases.empty()) {
    define("case", block.cases);
    elements.push_back(format("$case{} using 1:2 with points pt 7 ps 0.35*point lc rgb '#60{}' notitle",
                              setting, std::string(plot_ink).substr(1)));
  }
  if (!block.outliers.empty()) {
    define("out", block.outliers);
    elements.push_back(
        format("$out{} using 1:2 with points pt 6 ps 0.6*point lw 1.2 lc rgb '{}' notitle", setting, color));
  }
  // A candlestick of no height would leave a spike at its corner.
  elements.push_back(format("$box{} using ($1-$6/2):7:6:(0) with vectors nohead lc rgb '{}' lw 2.2 notitle",
                            setting, plot_ink));
  elements.push_back(
      format("$box{} using 1:8 with points pt 13 ps 0.75*point lc rgb '{}' notitle", setting, plot_ink));
  if (layout.settings.size() > 1) {
    elements.push_back(
        format("keyentry with boxes {} title {}", fill, gnuplot_text(setting_text(layout, setting))));
  }
}

std::string heading(const Layout& layout, const std::vector<BoxRow>& boxes) {
  std::string title = format("Dice per region, {}", cases_text(boxes));
  if (layout.settings.size() == 1 && !layout.settings[0].first.empty()) {
    title += format(", resolution {}", layout.settings[0].first);
  }
  if (!layout.grids_differ) title += format(", {} grid", layout.settings[0].second);
  return title;
}

}  // namespace

Picture box_plot(const std::vector<BoxRow>& rows) {
  std::vector<BoxRow> boxes;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(boxes),
               [](const BoxRow& row) { return row.metric == "dice"; });
  if (boxes.empty()) boxes.emplace_back().evaluated_at = "native";
  const Layout layout = lay_out(boxes);
  const int regions = static_cast<int>(layout.regions.size()),
            settings = static_cast<int>(layout.settings.size());
  const int per_region = std::max({90, settings * 34 + 24, static_cast<int>(layout.tic_columns) * 8 + 14});
  const int width = std::max(520, 80 + regions * per_region);
  int legend_columns = 0, legend_rows = 0;
  if (settings > 1) {
    std::size_t longest = 0;
    for (int i = 0; i < settings; ++i) {
      longest = std::max(longest, setting_text(layout, static_cast<std::size_t>(i)).size());
    }
    legend_columns = std::clamp((width - 80) / (static_cast<int>(longest) * 8 + 56), 1, settings);
    legend_rows = (settings + legend_columns - 1) / legend_columns;
  }
  const int tics_height = 17 * static_cast<int>(layout.tic_lines), top = 44 + 18 * legend_rows;
  const int bottom = 44 + tics_height, height = 340 + top + bottom;

  std::string data;
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < layout.settings.size(); ++i) add_setting(layout, boxes, i, data, elements);
  elements.push_back("-1 notitle");  // something to draw where every value is NaN
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    tics.push_back(format("{} {}", gnuplot_text(join(layout.tics[i], "\n")), i));
  }
  const double h = height;
  const std::string script =
      data +
      format("set title {} textcolor rgb '{}' offset screen 0,{}\n", gnuplot_text(heading(layout, boxes)),
             plot_ink, settings > 1 ? (18.0 * legend_rows) / h : 0.0) +
      format(
          "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at "
          "screen {}\n",
          56.0 / width, 1 - 16.0 / width, 1 - top / h, bottom / h) +
      format("set key at screen 0.5,{} center top horizontal Left reverse maxcols {} width 1\n", 1 - 34 / h,
             std::max(legend_columns, 1)) +
      format("set xrange [-0.5:{}]\nset yrange [0:1]\nset ytics 0.1\nset xtics scale 0 ({})\n", regions - 0.5,
             join(tics, ", ")) +
      format("set label 1 {} at screen 0.5,{} center font small textcolor rgb '{}'\n",
             gnuplot_text("box: quartiles   bar: median   diamond: mean   whiskers: 1.5 IQR   dots: cases"),
             14 / h, plot_ink) +
      "plot " + join(elements, ", ") + "\n";
  return draw(script, width, height);
}

}  // namespace voxswap
