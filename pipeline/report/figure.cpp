#include "pipeline/report/figure.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/text.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

constexpr int letter_pixels = 8;  // at a font size of 13 pixels; most letters are narrower
constexpr int right_margin = 24, title_height = 28;
constexpr std::size_t longest_line = 18, longest_slanted = 22;  // characters in a line of a tic label

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // UTF-8 continuation byte
}

// The legend, in columns at the top of the figure.
struct Legend {
  std::vector<LegendEntry> entries;
  int columns = 0, rows = 0;

  Legend(std::vector<LegendEntry> all, int width) : entries(std::move(all)) {
    if (entries.empty()) return;
    std::size_t longest = 0;
    for (LegendEntry& entry : entries) {
      entry.name = shortened(entry.name, static_cast<std::size_t>((width - 72) / letter_pixels));
      longest = std::max(longest, letters(entry.name));
    }
    const int count = static_cast<int>(entries.size());
    columns = std::clamp(width / (static_cast<int>(longest) * letter_pixels + 72), 1, count);
    rows = (count + columns - 1) / columns;
    columns = (count + rows - 1) / rows;  // balanced rows
  }
  int height() const { return entries.empty() ? 0 : 20 * rows + 8; }  // pixels

  // The legend is the last plot of the multiplot and covers the whole picture.
  std::string script(double top, int picture_height) const {
    if (entries.empty()) return "";
    std::string elements;
    for (const LegendEntry& entry : entries)
      elements += format("keyentry with {} title {}, ", entry.sample, gnuplot_text(entry.name));
    return format(
        "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\nset bmargin at screen 0\n"
        "set key at screen 0.5,{} center top horizontal Left reverse maxcols {} width 1\n"
        "unset border\nunset tics\nunset grid\nunset title\nunset xlabel\nunset ylabel\nunset label\n"
        "plot [0:1] [0:1] {}-1 notitle\n",
        1 - top / picture_height, columns, elements);
  }
};

// Pixels above and below the plot area of a panel.
int above(const Panel& panel) {
  return panel.title.empty() ? 8 : title_height;
}
int below(const Panel& panel) {
  return panel.x.tics_height + (panel.x.title.empty() ? 8 : 40);
}

std::string colored(const std::string& text, const std::string& place) {
  return format("{} {} textcolor rgb '{}'\n", gnuplot_text(text), place, plot_ink);
}

std::string label(const std::string& text, double from_top, const char* font) {
  return text.empty()
             ? ""
             : "set label " + colored(text, format("at screen 0.5,{} center {}", 1 - from_top, font));
}

// Two strokes across a y axis that does not begin at 0.
std::string break_mark(const Panel& panel, double width) {
  if (panel.y.range.low <= 0) return "";
  std::string script;
  for (const double up : {6, 10})
    script += format("set arrow from graph {},{} to graph {},{} nohead front lc rgb '{}' lw 1\n", -4 / width,
                     (up - 2) / panel.height, 4 / width, (up + 2) / panel.height, plot_ink);
  return script;
}

std::string script_of(const Panel& panel, double width) {
  return "set title " + colored(panel.title, "offset 0,-0.4") + "set xlabel " +
         colored(panel.x.title, "offset 0,0.3") + "set ylabel " + colored(panel.y.title, "offset 0.5,0") +
         break_mark(panel, width) +
         format(
             "set grid {}xtics ytics\nset xrange [{}:{}]\nset xtics {}\nset yrange [{}:{}]\nset ytics {}\n",
             panel.x.names ? "no" : "", panel.x.range.low, panel.x.range.high, panel.x.tics,
             panel.y.range.low, panel.y.range.high, panel.y.tics) +
         panel.labels + format("plot {}\nunset label\n", join(panel.elements, ", ")) + "unset arrow\n";
}

}  // namespace

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void Range::include(const Range& other) {
  include(other.low);
  include(other.high);
}

Range Range::padded() const {
  if (empty()) return {0, 1};
  const double margin = high > low ? 0.06 * (high - low) : std::max(0.05 * std::fabs(low), 1e-3);
  return {low - margin, high + margin};
}

double tic_step(double range, double tics) {
  const double least = range / tics, power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1, 2, 5}) {
    if (step * power >= least) return step * power;
  }
  return 10 * power;
}

Axis number_axis(const Range& range, double most, const std::string& title) {
  return {range, number(tic_step(range.high - range.low, most)), title};
}

Axis axis_from_zero(double highest, double most, const std::string& title) {
  return number_axis({0, highest > 0 ? 1.12 * highest : 1}, most, title);
}

int pixels_of_names(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names)
    for (const std::string& line : name_lines(name, longest_line)) longest = std::max(longest, letters(line));
  return static_cast<int>(longest) * letter_pixels;
}

namespace {

// Names that a slanted tic label has room for: to the left there are at least the margin and half of a name's
// space.
std::vector<std::string> slanted_names(const std::vector<std::string>& names, double pixels) {
  constexpr double margin = 60, letter = 5.4;
  const auto most =
      std::clamp(static_cast<std::size_t>((margin + pixels / 2) / letter), std::size_t{8}, longest_slanted);
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(shortened(name, most));
  if (std::set(result.begin(), result.end()).size() == names.size()) return result;
  for (std::size_t i = 0; i < names.size(); ++i) result[i] = shortened(names[i], most, Keep::end);
  return result;
}

}  // namespace

Axis name_axis(const std::vector<std::string>& names, double pixels, const std::string& title) {
  const bool slanted = pixels_of_names(names) > pixels;
  const std::vector<std::string> short_names = slanted_names(names, pixels);
  std::vector<std::string> tics;
  std::size_t height = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<std::string> lines =
        slanted ? std::vector{short_names[i]} : name_lines(names[i], longest_line);
    height = std::max(height, slanted ? 10 + 5 * letters(lines[0]) : 1 + 17 * lines.size());
    tics.push_back(format("{} {}", gnuplot_tic(join(lines, "\n")), tics.size()));
  }
  return {{-0.5, static_cast<double>(names.size()) - 0.5},
          format("scale 0 {} ({})", slanted ? "rotate by 35 right" : "norotate", join(tics, ", ")),
          title,
          static_cast<int>(height),
          true};
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string shortened(const std::string& text, std::size_t most_letters, Keep keep) {
  const std::size_t all = letters(text);
  if (all <= most_letters) return text;
  std::string result;
  std::size_t count = 0;
  for (const char c : text) {
    count += !continues_character(c);
    if (keep == Keep::begin ? count < most_letters : count > all - (most_letters - 1)) result += c;
  }
  return keep == Keep::begin ? result + "\u2026" : "\u2026" + result;
}

std::vector<std::string> name_lines(const std::string& name, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::string word;
  const auto end_word = [&] {
    if (!lines.back().empty() && letters(lines.back()) + letters(word) > columns) lines.emplace_back();
    lines.back() += word;
    word.clear();
  };
  for (const char c : name) {
    if (letters(word) >= columns && !continues_character(c)) end_word();
    word += c;
    if (c == '_' || c == '-' || c == ',' || c == ' ') end_word();
  }
  end_word();
  return lines;
}

void Panel::draw(const std::string& data, const std::string& columns, const std::string& style) {
  elements.push_back(format("{} using {} with {} notitle", data, columns, style));
}

void Figure::set_columns(std::size_t count, int pixels) {
  columns = count;
  width = pixels > 0 ? pixels : columns == 1 ? 420 : 690;
}

std::string Figure::add_data(const std::string& lines) {
  const std::string name = format("$data{}", blocks++);
  data += format("{} << END_OF_DATA\n{}END_OF_DATA\n", name, lines);
  return name;
}

void Figure::add(Panel& panel, const std::string& lines, const std::string& columns,
                 const std::string& style) {
  panel.draw(add_data(lines), columns, style);
}

double Figure::panel_width() const {
  return static_cast<double>(width) / static_cast<double>(columns) - left_margin - right_margin;
}

std::string Figure::fitting(const std::string& title) const {
  return shortened(title, static_cast<std::size_t>(width) / columns / 8);
}

Axis Figure::shared(Axis y) const {
  const bool is_first = panels.size() % columns == 0;
  y.tics += is_first ? " format '%g'" : " format ''";
  if (!is_first) y.title.clear();
  return y;
}

Picture Figure::draw() const {
  const Legend box(legend, width - 40);
  const int legend_top = heading.empty() ? 8 : 32;
  const int note_lines = note.empty() ? 0 : 1 + static_cast<int>(std::ranges::count(note, '\n'));
  std::vector<int> bottoms;  // bottom edge of each panel's plot area
  int height = legend_top + box.height();
  for (std::size_t i = 0; i < panels.size(); i += columns) {
    const auto row = std::span(panels).subspan(i, std::min(panels.size() - i, columns));
    int under = 0, bottom = 0;
    for (const Panel& panel : row) {
      bottom = std::max(bottom, height + above(panel) + panel.height);
      under = std::max(under, below(panel));
    }
    bottoms.insert(bottoms.end(), row.size(), bottom);
    height = bottom + under;
  }
  height += 15 * note_lines + 8;
  const auto across = [&](double pixels) { return pixels / width; };
  const auto up = [&](double pixels) { return 1 - pixels / height; };
  std::string script = data + "set datafile missing 'nan'\nunset key\n" + label(heading, 18.0 / height, "") +
                       label(note, (height + 3.0 - 15 * note_lines) / height, "font small") +
                       "set multiplot\n";
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double left = left_margin + static_cast<double>(i % columns) * width / static_cast<double>(columns);
    script += format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
        "{}\n",
        across(left), across(left + panel_width()), up(bottoms[i] - panels[i].height), up(bottoms[i]));
    script += script_of(panels[i], panel_width());
  }
  return pipeline::draw(script + box.script(legend_top, height) + "unset multiplot\n", width, height, title);
}

}  // namespace voxswap::pipeline
