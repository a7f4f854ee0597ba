// Merges finished runs into CSVs, plots and one page that a person looks at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/outputs.h"
#include "pipeline/report/page.h"
#include "pipeline/report/setting.h"

namespace voxswap::pipeline {

// Reads the tables of each run folder (dice.csv and others may be missing: a run that only trained, or was
// stopped) and writes into `out`: their tables merged, boxplot.csv, comparison.csv (where groups of runs can
// be compared, see comparison.h), the plots as SVG and PNG, and report.html: one self-contained page with the
// plots, the tables (and links that save them), cases with truth and prediction, the plans' memory, the
// experiments. With a single run and out == run the CSVs of the run are left as they are, and what `outputs`
// says of the others does not matter: they are the run's own. Throws Exit::bad_data for a folder that is no
// run and Exit::usage when `out` is one of several runs. Without gnuplot there is a warning instead of the
// plots; when gnuplot fails, that is thrown after all else is written. Plots of an earlier report that are
// not drawn again are removed: they show other numbers. `score_ensembles`: with it ensembles of two groups
// are ranked too.
BestModel report(const std::vector<fs::path>& runs, const fs::path& out, const ReadSettings& read_settings,
                 const ReportFrame& frame = {}, const Outputs& outputs = Outputs(true),
                 const ScoreEnsembles& score_ensembles = {});

}  // namespace voxswap::pipeline
