// report.html: its contents, the sections that show them, and the parts that sections share. A section is
// HTML, empty where there is nothing to show.
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
#include "pipeline/report/read_runs.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"
#include "voxswap/report.h"

namespace voxswap::pipeline {

// What a sweep adds to the report of its runs.
struct ReportFrame {
  std::string title;    // empty: the names of the runs
  std::string section;  // HTML, behind what is asked first
};

struct NamedPicture {
  std::string name;  // of its files: "boxplot"
  Picture picture;
};

// The contents of a report over all its runs, read and computed before any of it is shown.
struct ReportParts : RunTables {
  std::vector<RunFolder> runs;
  std::vector<std::string> notes;  // what was left out, and why
  std::vector<RunGroup> groups;
  std::vector<BoxRow> boxes;
  std::vector<ComparisonRow> comparisons;
  std::vector<NamedPicture> pictures;
  Ensembles ensembles;
  Ranking ranking;  // of the groups, and behind them the ensembles
  Folds folds;
  std::string plot_problem;  // why there are no plots
  ReportFrame frame;
};

struct ReportTable {
  std::string file;
  Csv csv;
  bool merged;  // of those that the runs have
};
// Those that have rows, and those of epochs and times.
std::vector<ReportTable> report_tables(const ReportParts& parts);

std::string report_page(const ReportParts& parts, const fs::path& out);

// Parts that the sections of report.html share.
using Rows = std::vector<std::vector<std::string>>;  // of a table; the first is the header

std::string decimals(double value);         // "0.871", "nan"
std::string signed_decimals(double value);  // "+0.012"
std::string p_text(double p);               // "0.0123", "< 0.0001"
std::string picture_section(const ReportParts& parts, const std::string& name, const std::string& caption);
// A table with a link that saves the numbers behind it.
std::string table_section(const Rows& rows, const std::string& file, const Csv& csv);
std::string table_section(const Rows& rows, const std::string& file);  // with what is shown
// Leaves out columns that say nothing in any row.
Rows without_empty_columns(Rows rows);
// Leaves out the column with this heading where all rows say the same; what they say, empty where they
// differ.
std::string take_out_common(Rows& rows, const std::string& heading);
// In the order in which they first appear, which is that of the experiment: the place of a region in it is
// the place of its colour in the palette.
std::vector<std::string> region_names(const std::vector<DiceRow>& rows);
// "A, B and 4 more"
std::string listed(const std::vector<std::string>& names, std::size_t most);
// Without an order, as they come.
std::vector<std::size_t> groups_from_best(const ReportParts& parts);
std::string grid_words(const std::string& evaluated_at);  // "the native grid", "a grid of 144"

// A run of a group that is looked into, and what its first repeat scored on its first grid.
struct ShownRun {
  const RunFolder* run = nullptr;
  std::string group;
  std::map<std::string, std::vector<const DiceRow*>> cases;  // a row per region
};
struct ShownRuns {
  std::vector<ShownRun> runs;
  std::vector<std::string> left_out;  // groups
};
// Of every group the first run that has `file` in its folder, from the best group to the worst; of more than
// `most` groups the best ones and the worst.
ShownRuns shown_runs(const ReportParts& parts, const char* file, std::size_t most = 6);
double mean_dice(const std::vector<const DiceRow*>& rows);  // over the regions; NaN without a number

// The section of cases.
std::string cases_section(const ReportParts& parts);

// The section of classifiers: accuracy and confusion matrix.
std::string classes_section(const ReportParts& parts);

// The section of data warnings.
std::string data_section(const ReportParts& parts);

// The section of runs.
std::string runs_section(const ReportParts& parts);
// When, with what, on which data, for how long: what all runs have in common, and where they differ.
std::string facts_section(const ReportParts& parts);

// The section of Dice.
BestModel best_model(const ReportParts& parts);         // which group is best
std::string answer_section(const ReportParts& parts);   // that in a sentence, and how to predict with it
std::string ranking_section(const ReportParts& parts);  // all groups, from the best on
std::string dice_section(const ReportParts& parts);
std::string comparison_section(const ReportParts& parts);

// The section of time and memory.
std::string speed_section(const ReportParts& parts);
std::string memory_section(const ReportParts& parts);

// Sections of folds, post-processing and calibration.
std::string folds_section(const ReportParts& parts);
std::string postprocessing_section(const ReportParts& parts, const fs::path& out);
std::string calibration_section(const ReportParts& parts);

// The slice viewer of the report.
// A section with the cases of every group (of many groups, the best and the worst) and as many of their
// volumes, from the worst case on, as output.viewer has room for. Empty where no run has volumes to look
// into.
std::string viewer_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
