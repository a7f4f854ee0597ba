// Runs gnuplot and, for SVG with text as outlines, pdftocairo as child processes. The script is passed
// through standard input and the picture through standard output, so that neither file names nor a shell are
// involved. External text is only inserted into scripts through gnuplot_text().
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace voxswap::pipeline {

struct Picture {
  std::string svg, png;       // contents of the files; empty: nothing to draw
  std::string script;         // that drew them, without terminal
  int width = 0, height = 0;  // of the layout, pixels
  std::string name{};         // base name of its files in a report, such as "boxplot"
};
inline constexpr double letter_height = 13;  // of the layout, pixels

// For print: text is outlines in the SVG, and in embedded fonts in the PDF.
struct PaperPicture {
  std::string svg, pdf;
};

// gnuplot or pdftocairo is not installed; callers can continue without plots.
class NoGnuplot : public Error {
 public:
  using Error::Error;
};

// Draws a script as SVG and PNG. `title`: of the SVG. Throws NoGnuplot.
Picture draw(const std::string& script, int width, int height, const std::string& title);

// Draws a picture again, `points` wide (1/72 inch). Throws Exit::failed without gnuplot or pdftocairo.
PaperPicture draw_for_paper(const Picture& picture, double points);

// The complete SVG, PNG or PDF that gnuplot writes for `script`. Throws NoGnuplot if gnuplot cannot be
// started, Exit::failed if it reports an error, is killed, or writes an incomplete picture, which it does not
// report.
std::string gnuplot(const std::string& script);

// True if the end of an SVG, PNG or PDF is present.
bool is_whole_picture(std::string_view bytes);

// A gnuplot string literal for `text` (with `set termoption noenhanced`). Keeps line feeds, replaces other
// control characters by spaces and invalid UTF-8 by U+FFFD.
std::string gnuplot_text(std::string_view text);
// For tic labels, which gnuplot interprets as number formats.
std::string gnuplot_tic(std::string_view text);

}  // namespace voxswap::pipeline
