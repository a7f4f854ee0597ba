// How the plots of a report are drawn: by gnuplot, from our own statistics, so that pictures and tables
// agree. One colour is one group of runs (repeats of one model) in all of them.
#pragma once

#include <cstddef>
#include <string>

namespace voxswap::pipeline {

struct Picture {
  std::string svg, png;  // the files' bytes
};

// What the pictures are painted with, for a page that wants to repaint them.
constexpr const char* plot_ink = "#444444";   // text, axes, medians
constexpr const char* plot_line = "#dddddd";  // grid

// Colour `index` of `count` that people with any colour vision can tell apart.
std::string plot_color(std::size_t index, std::size_t count);

// The two terminals in front of one script. Throws NoGnuplot where there is none (gnuplot.h). The title is
// what a browser calls the picture.
Picture draw(const std::string& script, int width, int height, const std::string& title);

}  // namespace voxswap::pipeline
