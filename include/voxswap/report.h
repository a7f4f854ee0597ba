// Comparison of finished runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace voxswap {

struct ReportOptions {
  bool ensembles = false;  // predict the validation cases with every two groups of runs, and rank them too
  bool force = false;      // overwrite files that voxswap did not write
};

// The group of runs, or the ensemble of two groups, that is best on the validation cases.
struct BestModel {
  std::string name;               // empty: no run has a Dice
  std::vector<std::string> runs;  // folders that predict together
  bool ensemble = false;
  double dice = 0;        // mean over regions and cases
  std::size_t cases = 0;  // that it is the mean of
  std::string next;       // the second best; empty: there is none
  // Mean difference to the next over the cases that both were scored on, with its 95 % bootstrap interval.
  double lead = 0, lead_low = 0, lead_high = 0;
  std::string words;    // all this in a sentence or two
  std::string command;  // that predicts new images with it; empty: a folder has no weights
};

// Writes the runs' tables merged, comparison.csv, plots and report.html into `out`. `runs`: folders of runs
// or sweeps. Throws Exit::bad_data for a folder that contains no run.
BestModel report(const std::vector<std::string>& runs, const std::string& out,
                 const ReportOptions& options = {});

}  // namespace voxswap
