// Figures for a paper, at the width of a journal's column, and its methods.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/outputs.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

struct Paper {
  fs::path folder;                // empty: none
  double width_millimetres = 89;  // of every figure
  // Writes methods.md. A callback, since the keys of experiments are defined elsewhere.
  std::function<std::string(const std::vector<RunFolder>&)> methods;
};

// All plots of a report. `width`: of their layout in pixels (plots.h).
std::vector<NamedPicture> draw_pictures(const ReportParts& parts, int width = 0);

// Writes every plot as SVG and PDF, and methods.md. Text is 7 points high, or less where a plot needs more
// room, which is logged. Throws Exit::failed without gnuplot or pdftocairo.
void write_paper(const ReportParts& parts, const Paper& paper, const Outputs& outputs);

}  // namespace voxswap::pipeline
