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
Axis axis_from_zero(double highest, double most);
// Tic labels with `pixels` of space each: wrapped, or slanted if they would overlap.
Axis name_axis(const std::vector<std::string>& names, double pixels, const std::string& title = "");
int pixels_of_names(const std::vector<std::string>& names);  // required width per upright label

// In a row of panels with equal y axes, only the first column labels it.
void share_axis(Axis& y, std::size_t column);

struct Panel {
  std::string title{};
  Axis x{}, y{};
  int height = 190;                     // height of the plot area
  std::vector<std::string> elements{};  // of gnuplot's plot command
  std::string labels{};                 // gnuplot commands
};

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
  int columns = 1;
  std::string data{};  // gnuplot data blocks from add_data()
  int blocks = 0;      // number of data blocks

  // Defines a data block and returns its name.
  std::string add_data(const std::string& lines);
  double panel_width() const;  // width of the plot area
  Picture draw() const;
};

// An element of a panel: columns of a data block, drawn in a style.
std::string element(const std::string& data, const std::string& columns, const std::string& style);

// Wraps a name at `columns` characters, preferably after '_', '-', ',' or ' '.
std::vector<std::string> name_lines(const std::string& name, std::size_t columns);
std::size_t letters(const std::string& text);                              // number of UTF-8 characters
std::string shortened(const std::string& text, std::size_t most_letters);  // "a long na…"

}  // namespace voxswap::pipeline
