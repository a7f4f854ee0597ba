// The plots of a report: Dice per region, Dice over the time of training, and losses and seconds over the
// epochs. Drawn by gnuplot from
// our own statistics, so that the picture and boxplot.csv agree.
#pragma once

#include <string>
#include <vector>

#include "pipeline/tables.h"

namespace voxswap {

struct Picture {
  std::string svg, png;  // the files' bytes
};

// All throw Exit::failed when gnuplot is not installed.
Picture box_plot(const std::vector<BoxRow>& boxes);  // the rows with metric dice
Picture epochs_plot(const std::vector<EpochRow>& rows);
Picture validation_plot(const std::vector<ValidationRow>& rows);

// What the pictures are painted with, for a page that wants to repaint them.
constexpr const char* plot_ink = "#444444";   // text, axes, medians
constexpr const char* plot_line = "#dddddd";  // grid

// Colour `index` of `count` that people with any colour vision can tell apart.
std::string plot_color(std::size_t index, std::size_t count);
// The two terminals in front of one script.
Picture draw(const std::string& script, int width, int height);

}  // namespace voxswap
