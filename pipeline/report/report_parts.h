// The contents of a report, read and computed before any of it is shown.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/class_tables.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/drawing.h"
#include "pipeline/report/folds.h"
#include "pipeline/report/ranking.h"
#include "pipeline/report/read_runs.h"
#include "pipeline/report/report_frame.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct NamedPicture {
  std::string name;  // of its files: "boxplot"
  Picture picture;
};

// All that a report says, over all its runs.
struct ReportParts {
  std::vector<RunFolder> runs;
  std::vector<std::string> notes;  // what was left out, and why
  std::vector<RunGroup> groups;
  std::vector<EpochRow> epochs;
  std::vector<ValidationRow> validation;
  std::vector<DiceRow> dice;
  std::vector<ClassRow> classes;
  std::vector<AccuracyRow> accuracy;
  std::vector<CalibrationRow> calibration;
  std::vector<TimingRow> timing;
  std::vector<MemoryRow> memory;
  std::vector<PhaseRow> phases;
  std::vector<BoxRow> boxes;
  std::vector<ComparisonRow> comparisons;
  std::vector<NamedPicture> pictures;
  Ranking ranking;
  Folds folds;
  std::string plot_problem;  // why there are no plots
  ReportFrame frame;
};

}  // namespace voxswap::pipeline
