// report.html: its contents, its sections, and parts shared by sections. A
// section is HTML, empty if there is nothing to show.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/ensembles.h"
#include "pipeline/report/folds.h"
#include "pipeline/report/plots.h"
#include "pipeline/report/ranking.h"
#include "pipeline/report/read_runs.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"
#include "voxswap/report.h"

namespace voxswap::pipeline {

// A sweep's additions to the report of its runs.
struct ReportFrame {
  std::string title;    // empty: the names of the runs
  std::string section;  // HTML, inserted after the answer, ranking and facts
};

// The contents of a report over all its runs, read and computed before
// rendering.
struct ReportParts : RunTables {
  std::vector<RunFolder> runs;
  std::vector<std::string> notes;  // what was skipped, with reasons
  std::vector<RunGroup> groups;
  std::vector<BoxRow> boxes;
  std::vector<ComparisonRow> comparisons;
  std::vector<Picture> pictures;
  Ensembles ensembles;
  Ranking ranking;  // groups, followed by ensembles
  Folds folds;
  std::string plot_problem;  // reason if there are no plots
  ReportFrame frame;
  fs::path out;           // folder of the report
  bool in_place = false;  // it is the folder of the only run
};

struct ReportTable {
  std::string file;
  Csv csv;
  bool merged;   // concatenated from the runs' own tables
  bool written;  // it has rows, or is epochs.csv or timing.csv
};
std::vector<ReportTable> report_tables(const ReportParts& parts);

std::string report_page(const ReportParts& parts);

// Names the runs that are in no comparison of scores, because their sweep
// stopped them; empty if there are none.
std::string stopped_note(const ReportParts& parts);

// Parts shared by the sections of report.html.
using Rows = std::vector<std::vector<std::string>>;  // first row: header

std::string decimals(double value);  // "0.871"; "-" for NaN
std::string picture_section(const ReportParts& parts, const std::string& name, const std::string& caption);
// A table with a link that downloads `csv`, or the table as shown if that is
// empty.
std::string table_section(const Rows& rows, const std::string& file, const Csv& csv = {});
// Removes columns that are empty in all rows.
Rows without_empty_columns(Rows rows);
// Removes the column with this heading if all rows have the same value, and
// returns the value; otherwise returns an empty string.
std::string take_out_common(Rows& rows, const std::string& heading);

// A run shown for its group, with scores of its first repeat on its first grid.
struct ShownRun {
  const RunFolder* run = nullptr;
  std::string group;
  std::map<std::string, std::vector<const DiceRow*>> cases;  // a row per region
};
struct ShownRuns {
  std::vector<ShownRun> runs;
  std::vector<std::string> left_out;  // groups
};
// The first run with `file` in its folder for each group, from the best group
// to the worst. With more than `most` groups, the best ones and the worst.
ShownRuns shown_runs(const ReportParts& parts, const char* file, std::size_t most = 6);

// The sections on scores: the best group and how to predict with it, all groups
// from the best on, image classification (accuracy and confusion matrix),
// regions, and differences between groups.
BestModel best_model(const ReportParts& parts);  // the best group
std::string answer_section(const ReportParts& parts);
std::string ranking_section(const ReportParts& parts);
std::string classes_section(const ReportParts& parts);
std::string dice_section(const ReportParts& parts);
std::string comparison_section(const ReportParts& parts);

// The sections with example cases and data warnings.
std::string cases_section(const ReportParts& parts);
std::string data_section(const ReportParts& parts);

// The section with runs, and dates, devices, data and times: common values, and
// where runs differ.
std::string runs_section(const ReportParts& parts);
std::string facts_section(const ReportParts& parts);

// The sections on time and memory.
std::string speed_section(const ReportParts& parts);
std::string memory_section(const ReportParts& parts);

// The sections on folds, post-processing and calibration.
std::string folds_section(const ReportParts& parts);
std::string postprocessing_section(const ReportParts& parts);
std::string calibration_section(const ReportParts& parts);

// The slice viewer: cases of every group (with many groups, of the best and the
// worst) and their volumes, from the worst case on, up to the limit
// output.viewer. Empty if no run has volumes for the viewer.
std::string viewer_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
