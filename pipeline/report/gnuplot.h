// gnuplot as a child process: a script in, a picture out.
//
// The script travels through standard input and the picture through standard output, so no file name and no
// shell is involved; whatever text comes from outside enters a script through gnuplot_text() only.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace voxswap::pipeline {

struct Picture {
  std::string svg, png;  // the files' bytes
};

// There is no gnuplot on this machine: everything but the plots can still be had.
class NoGnuplot : public Error {
 public:
  using Error::Error;
};

// The two terminals in front of one script. The title is what a browser calls the picture. Throws NoGnuplot.
Picture draw(const std::string& script, int width, int height, const std::string& title);

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
