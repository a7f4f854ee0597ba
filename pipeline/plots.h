// The plots of a report. Drawn by gnuplot from our own statistics, so that pictures and tables agree. One
// colour is one group of runs (repeats of one model) in all of them.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run_groups.h"
#include "pipeline/tables.h"

namespace voxswap {

struct Picture {
  std::string svg, png;  // the files' bytes
};

// All throw NoGnuplot where there is none (gnuplot.h).
// The rows with metric dice, a panel per grid. Of fewer than five cases there is no box, only the cases.
Picture box_plot(const std::vector<BoxRow>& boxes, const std::vector<RunGroup>& groups = {});
// Losses, Dice of the validation cases (mean over the regions), learning rate, seconds; rings mark the epoch
// with the lowest validation loss, whose weights are kept.
Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups);
Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups);
// Seconds, overhead, utilisation and link rates over what was varied: the factor of voxels, the link, the
// budget, or names. Empty where fewer than two groups were timed.
Picture timing_plot(const std::vector<TimingRow>& rows, const std::vector<RunGroup>& groups);
Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups);

// What the pictures are painted with, for a page that wants to repaint them.
constexpr const char* plot_ink = "#444444";   // text, axes, medians
constexpr const char* plot_line = "#dddddd";  // grid

// Colour `index` of `count` that people with any colour vision can tell apart.
std::string plot_color(std::size_t index, std::size_t count);
// The two terminals in front of one script. The title is what a browser calls the picture.
Picture draw(const std::string& script, int width, int height, const std::string& title);

}  // namespace voxswap
