// How the plots of a report are drawn: by gnuplot, from our own statistics, so that pictures and tables
// agree. One colour is one group of runs (repeats of one model); where there is only one group, one region.
#pragma once

#include <string>

namespace voxswap::pipeline {

struct Picture {
  std::string svg, png;  // the files' bytes
};

// The two terminals in front of one script. Throws NoGnuplot where there is none (gnuplot.h). The title is
// what a browser calls the picture.
Picture draw(const std::string& script, int width, int height, const std::string& title);

}  // namespace voxswap::pipeline
