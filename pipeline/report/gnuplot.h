// Runs gnuplot as a child process. The script is passed through standard input and the picture through
// standard output, so that neither file names nor a shell are involved. External text is only inserted into
// scripts through gnuplot_text().
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace voxswap::pipeline {

struct Picture {
  std::string svg, png;  // contents of the files
};

// gnuplot is not installed; callers can continue without plots.
class NoGnuplot : public Error {
 public:
  using Error::Error;
};

// Draws a script as SVG and PNG. `title`: of the SVG. Throws NoGnuplot.
Picture draw(const std::string& script, int width, int height, const std::string& title);

// The complete SVG or PNG that gnuplot writes for `script`. Throws NoGnuplot if gnuplot cannot be started,
// Exit::failed if it reports an error, is killed, or writes an incomplete picture, which it does not report.
std::string gnuplot(const std::string& script);

// True if the end of an SVG or PNG is present.
bool is_whole_picture(std::string_view bytes);

// A gnuplot string literal for `text` (with `set termoption noenhanced`). Keeps line feeds, replaces other
// control characters by spaces and invalid UTF-8 by U+FFFD.
std::string gnuplot_text(std::string_view text);
// For tic labels, which gnuplot interprets as number formats.
std::string gnuplot_tic(std::string_view text);

}  // namespace voxswap::pipeline
