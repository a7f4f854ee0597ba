// Dice of the validation cases over the minutes of training, a line per region, run and repeat.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "pipeline/gnuplot.h"
#include "pipeline/plots.h"

namespace voxswap {

namespace {

struct Line {
  std::string label, points;
};

// In the order of the table; a label names only what tells the lines apart.
std::vector<Line> lines_of(const std::vector<ValidationRow>& rows) {
  std::set<std::string> runs, resolutions;
  std::set<std::int64_t> repeats;
  for (const ValidationRow& row : rows) {
    runs.insert(row.run);
    resolutions.insert(row.resolution);
    repeats.insert(row.repeat);
  }
  std::vector<Line> lines;
  std::map<std::string, std::size_t> places;
  for (const ValidationRow& row : rows) {
    std::vector<std::string> parts;
    if (runs.size() > 1) parts.push_back(row.run);
    if (resolutions.size() > 1) parts.push_back(row.resolution);
    if (repeats.size() > 1) parts.push_back(format("repeat {}", row.repeat));
    parts.push_back(row.region);
    const std::string label = join(parts, ", ");
    const auto [found, fresh] = places.try_emplace(label, lines.size());
    if (fresh) lines.push_back({label, ""});
    lines[found->second].points += format("{} {}\n", row.trained_seconds / 60, row.dice);
  }
  return lines;
}

}  // namespace

Picture validation_plot(const std::vector<ValidationRow>& rows) {
  std::vector<Line> lines = lines_of(rows);
  if (lines.empty()) lines.push_back({"", "0 nan\n"});
  std::string data;
  std::vector<std::string> elements;
  std::size_t longest = 10;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    data += format("$line{} << END_OF_DATA\n{}END_OF_DATA\n", i, lines[i].points);
    elements.push_back(format("$line{} using 1:2 with linespoints lc rgb '{}' lw 1.5 pt 7 ps 0.4 title {}", i,
                              plot_color(i, lines.size()), gnuplot_text(lines[i].label)));
    longest = std::max(longest, lines[i].label.size());
  }
  const int width = 640 + static_cast<int>(longest) * 8 + 50;
  const int height = std::max(380, 80 + 20 * (static_cast<int>(lines.size()) + 2));
  return draw(data + "set datafile missing 'nan'\nset grid x y\nset key outside right top Left reverse\n" +
                  format("set title 'Dice of the validation cases, training grid' textcolor rgb '{0}'\n"
                         "set xlabel 'minutes of training' textcolor rgb '{0}'\nset xrange [0:*]\n",
                         plot_ink) +
                  "plot " + join(elements, ", ") + "\n",
              width, height);
}

}  // namespace voxswap
