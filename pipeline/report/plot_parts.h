// Parts that plots share: ranges and ticks of axes, names that fit, a legend above the panels.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

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

// gnuplot as a child process: a script in, a picture out.
//
// The script travels through standard input and the picture through standard output, so no file name and no
// shell is involved; whatever text comes from outside enters a script through gnuplot_text() only.

// There is no gnuplot on this machine: everything but the plots can still be had.
class NoGnuplot : public Error {
 public:
  using Error::Error;
};

// The bytes that gnuplot writes for `script`: a whole SVG or PNG. Throws NoGnuplot when it cannot be started,
// Exit::failed when it reports an error, is killed, or does not finish its picture, which it does not notice
// itself.
std::string gnuplot(const std::string& script);

// Ends as an SVG or a PNG does.
bool is_whole_picture(std::string_view bytes);

// A gnuplot string literal that shows `text` as it is (with `set termoption noenhanced`). Line feeds stay,
// other control characters become spaces, what is no UTF-8 becomes U+FFFD.
std::string gnuplot_text(std::string_view text);
// The same for the name of a tic, where gnuplot looks for a format of numbers.
std::string gnuplot_tic(std::string_view text);

}  // namespace voxswap::pipeline
