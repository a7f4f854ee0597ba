// gnuplot as a child process: a script in, a picture out.
//
// The script travels through standard input and the picture through standard output, so no file name and no
// shell is involved; whatever text comes from outside enters a script through gnuplot_text() only.
#pragma once

#include <string>
#include <string_view>

namespace voxswap {

// The bytes that gnuplot writes for `script`. Throws Exit::failed when gnuplot is not installed, reports an
// error or draws nothing.
std::string gnuplot(const std::string& script);

// A gnuplot string literal that shows `text` as it is (with `set termoption noenhanced`). Line feeds stay,
// other control characters become spaces.
std::string gnuplot_text(std::string_view text);

}  // namespace voxswap
