// A plot as a description: panels with axes, in rows below a heading and a legend, which gnuplot draws.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pipeline/report/gnuplot.h"

namespace voxswap::pipeline {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value);  // what is finite
  void include(const Range& other);
  bool empty() const { return low > high; }
  // With a margin, and never empty: gnuplot refuses to draw without a range.
  Range padded() const;
};

struct Axis {
  Range range{};
  std::string tics{};  // as gnuplot takes them
  std::string title{};
  int tics_height = 18;  // pixels
  bool names = false;    // instead of numbers, at 0, 1, ...
};
// A step of 1, 2 or 5 times a power of ten that gives at most `tics` tics over `range`.
double tic_step(double range, double tics);
// With at most `most` tics.
Axis number_axis(const Range& range, double most, const std::string& title = "");
Axis axis_from_zero(double highest, double most);
// Names that have `pixels` each: in lines, or at an angle where those would run into each other.
Axis name_axis(const std::vector<std::string>& names, double pixels, const std::string& title = "");
int pixels_of_names(const std::vector<std::string>& names);  // that each needs to be upright

struct Panel {
  std::string title{};
  Axis x{}, y{};
  int height = 190;                     // pixels of the plot inside the axes
  std::vector<std::string> elements{};  // of gnuplot's plot command
  std::string labels{};                 // gnuplot's commands for them
};

// An entry is what gnuplot draws beside its name: "lines lc …".
struct LegendEntry {
  std::string name, sample;
};

struct Figure {
  std::string title{};            // what a browser calls it
  int width = 600;                // pixels
  std::string heading{}, note{};  // above and below all panels
  std::vector<LegendEntry> legend{};
  std::vector<Panel> panels{};
  int columns = 1;
  std::string data{};  // gnuplot's definitions, as add_data() makes them
  int blocks = 0;      // of data

  // Defines a block of data; its name.
  std::string add_data(const std::string& lines);
  double panel_width() const;  // of the plot inside the axes
  Picture draw() const;
};

// An element of a panel: columns of a block of data, drawn in a style.
std::string element(const std::string& data, const std::string& columns, const std::string& style);

// A name in lines of at most `columns` characters, broken after '_', '-', ',' and ' ' where there is one.
std::vector<std::string> name_lines(const std::string& name, std::size_t columns);
std::size_t letters(const std::string& text);                              // characters of UTF-8
std::string shortened(const std::string& text, std::size_t most_letters);  // "a long na…"

}  // namespace voxswap::pipeline
