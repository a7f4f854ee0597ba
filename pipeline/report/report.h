// Merges finished runs into tables, plots and one HTML page.
#pragma once

#include <functional>
#include <vector>

#include "base/file.h"
#include "base/outputs.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

// Figures for a paper, at the width of a journal's column, and its methods. Text is 7 points high, or less
// where a plot needs more room, which is logged.
struct Paper {
  fs::path folder;                // empty: none
  double width_millimetres = 89;  // of every figure
  // Writes methods.md. A callback, since the keys of experiments are defined elsewhere.
  std::function<std::string(const std::vector<RunFolder>&)> methods;
};

// Reads the tables of each run folder (any may be missing if a run only trained or was stopped) and writes to
// `out`: the merged tables, boxplot.csv, comparison.csv (if groups of runs can be compared, see
// comparison.h), plots as SVG and PNG, and report.html, a self-contained page with plots, tables (also as
// downloads), cases with ground truth and prediction, memory plans and experiments.
//
// With a single run and out == run, the run's tables are not touched and `outputs` is ignored.
// `score_ensembles`: if given, ensembles of two groups are ranked, too. `paper`: every plot as SVG and
// PDF, and methods.md, in another folder. Without gnuplot, logs a warning instead of drawing plots; if
// gnuplot fails, throws after everything else is written. Removes plots of an earlier report that are not
// drawn again. Throws Exit::bad_data for a folder that is not a run, Exit::usage if `out` is one of several
// runs.
BestModel report(const std::vector<fs::path>& runs, const fs::path& out, const ReadSettings& read_settings,
                 const ReportFrame& frame = {}, const Outputs& outputs = Outputs(true),
                 const ScoreEnsembles& score_ensembles = {}, const Paper& paper = {});

}  // namespace voxswap::pipeline
