// report.html: what a person looks at after a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/plots.h"
#include "pipeline/tables.h"

namespace voxswap {

struct RunFolder {
  std::filesystem::path path;
  std::string name;  // as in the run column of the merged tables
  std::vector<EpochRow> epochs;
  std::vector<ValidationRow> validation;
  std::vector<DiceRow> dice;      // empty: the run only trained
  std::vector<TimingRow> timing;  // empty: the run was stopped before its end
};

struct ReportParts {
  std::vector<RunFolder> runs;
  std::vector<BoxRow> boxes;                       // over all runs
  Picture box_plot, epochs_plot, validation_plot;  // empty where there is none
  std::string plot_problem;                        // why there are no plots
};

std::string report_page(const ReportParts& parts, const std::filesystem::path& out);

}  // namespace voxswap
