// Parts that plots share: ranges and ticks of axes, names that fit, a legend above the panels.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace voxswap::pipeline {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value);  // what is finite
  bool empty() const { return low > high; }
  // With a margin, and never empty: gnuplot refuses to draw without a range.
  Range padded() const;
  std::string text() const;  // "[0:1]"
};

// A step of 1, 2 or 5 times a power of ten that gives at most `tics` tics over `range`.
double tic_step(double range, double tics);

// A name in lines of at most `columns` characters, broken after '_', '-', ',' and ' ' where there is one.
std::vector<std::string> name_lines(const std::string& name, std::size_t columns);
std::size_t letters(const std::string& text);                              // characters of UTF-8
std::string shortened(const std::string& text, std::size_t most_letters);  // "a long na…"

// A legend in columns above everything else. An entry is what gnuplot draws beside its name: "lines lc …".
struct LegendEntry {
  std::string name, sample;
};
struct Legend {
  std::vector<LegendEntry> entries;
  int columns = 0, rows = 0;
  Legend(std::vector<LegendEntry> all, int width);
  int height() const { return entries.empty() ? 0 : 20 * rows + 8; }  // pixels
  // A plot of its own, over the whole width, `top` pixels below the upper edge: the last one of a multiplot.
  std::string plot(int top, int picture_width, int picture_height) const;
};

// Margins of panels, in pixels from the top of a picture.
std::string panel_place(double top, double bottom, int picture_height);
std::string side_margins(double left, double right, int picture_width);

}  // namespace voxswap::pipeline
