// gnuplot as a child process: a script in, a picture out.
//
// The script travels through standard input and the picture through standard output, so no file name and no
// shell is involved; whatever text comes from outside enters a script through gnuplot_text() only.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace voxswap {

// There is no gnuplot on this machine: everything but the plots can still be had.
class NoGnuplot : public Error {
 public:
  using Error::Error;
};

// The bytes that gnuplot writes for `script`. Throws NoGnuplot when it cannot be started, Exit::failed when it
// reports an error or draws nothing.
std::string gnuplot(const std::string& script);

// A gnuplot string literal that shows `text` as it is (with `set termoption noenhanced`). Line feeds stay,
// other control characters become spaces.
std::string gnuplot_text(std::string_view text);

}  // namespace voxswap
