// Compares finished runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace voxswap {

struct ReportOptions {
  bool ensembles =
      false;           // predict the validation cases with each pair of groups, and rank these ensembles, too
  bool force = false;  // overwrite files that voxswap did not write
  std::string figures;       // folder for figures as SVG and PDF, and methods.md; empty: none
  double figure_width = 89;  // of a journal's column, in mm
};

// The group of runs, or the ensemble of two groups, with the best validation scores.
struct BestModel {
  std::string name;               // empty: no run has Dice scores
  std::vector<std::string> runs;  // folders of the runs to predict with
  bool ensemble = false;
  double dice = 0;        // mean over regions and cases
  std::size_t cases = 0;  // number of cases
  std::string next;       // second best; empty: none
  // Mean difference to `next` over their common cases, with its 95 % bootstrap interval.
  double lead = 0, lead_low = 0, lead_high = 0;
  std::string finding;  // what changing the compared key does, in one sentence; empty: no such comparison
  std::string words;    // summary in one or two sentences
  std::string command;  // predicts new images with the model; empty: a folder has no weights
};

// Writes the merged tables of the runs, comparison.csv, plots and report.html to `out`. `runs`: folders of
// runs or sweeps. Throws Exit::bad_data for a folder without a run.
BestModel report(const std::vector<std::string>& runs, const std::string& out,
                 const ReportOptions& options = {});

}  // namespace voxswap
