// Describes a plot that gnuplot draws: panels with axes, in rows below a heading and a legend.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pipeline/report/gnuplot.h"

namespace voxswap::pipeline {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value);  // ignores NaN and infinity
  void include(const Range& other);
  bool empty() const { return low > high; }
  // Adds a margin; never empty, since gnuplot requires a range.
  Range padded() const;
};

struct Axis {
  Range range{};
  std::string tics{};  // in gnuplot's syntax
  std::string title{};
  int tics_height = 18;  // pixels; of the x axis
  bool names = false;    // tics at 0, 1, … with names instead of numbers
};
// The step 1, 2 or 5 times a power of ten that gives at most `tics` tics over `range`.
double tic_step(double range, double tics);
// An axis with at most `most` tics.
Axis number_axis(const Range& range, double most, const std::string& title = "");
Axis axis_from_zero(double highest, double most, const std::string& title = "");
// Tic labels with `pixels` of space each: wrapped, or slanted if they would overlap.
Axis name_axis(const std::vector<std::string>& names, double pixels, const std::string& title = "");
int pixels_of_names(const std::vector<std::string>& names);  // required width per upright label

struct Panel {
  std::string title{};
  Axis x{}, y{};
  int height = 190;                     // height of the plot area
  std::vector<std::string> elements{};  // of gnuplot's plot command
  std::string labels{};                 // gnuplot commands

  // Draws columns of a data block in a style.
  void draw(const std::string& data, const std::string& columns, const std::string& style);
};
// gnuplot needs an element even if every value is NaN.
inline constexpr const char* empty_element = "-1 notitle";

// `sample`: what gnuplot draws beside the name, such as "lines lc …".
struct LegendEntry {
  std::string name, sample;
};

struct Figure {
  std::string title{};            // of the SVG
  int width = 600;                // pixels
  int left_margin = 72;           // of a panel, for the labels of its y axis
  std::string heading{}, note{};  // above and below all panels
  std::vector<LegendEntry> legend{};
  std::vector<Panel> panels{};
  std::size_t columns = 1;
  std::string data{};  // gnuplot data blocks from add_data()
  int blocks = 0;      // number of data blocks

  // Sets the columns, and the width: the natural one if it is 0.
  void set_columns(std::size_t count, int pixels);
  // Defines a data block and returns its name.
  std::string add_data(const std::string& lines);
  // Defines a data block and draws it on a panel.
  void add(Panel& panel, const std::string& lines, const std::string& columns, const std::string& style);
  double panel_width() const;  // width of the plot area
  // The title, shortened to the width of a panel.
  std::string fitting(const std::string& title) const;
  // An equal y axis for the next panel: only the first column labels it.
  Axis shared(Axis y) const;
  Picture draw() const;
};

// Wraps a name at `columns` characters, preferably after '_', '-', ',' or ' '.
std::vector<std::string> name_lines(const std::string& name, std::size_t columns);
std::size_t letters(const std::string& text);  // number of UTF-8 characters
enum class Keep { begin, end };
std::string shortened(const std::string& text, std::size_t most_letters,
                      Keep keep = Keep::begin);  // "a long na…"

}  // namespace voxswap::pipeline
