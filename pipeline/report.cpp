#include "pipeline/report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/page.h"
#include "pipeline/plots.h"
#include "pipeline/tables.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

template <class Row>
std::vector<Row> read_rows(const fs::path& file, std::vector<Row> (*parse)(const Csv&, const std::string&)) {
  if (!fs::exists(file)) return {};
  return parse(read_csv(file), file.string());
}

RunFolder read_run(const fs::path& folder) {
  if (!fs::exists(folder / "epochs.csv")) {
    fail(Exit::bad_data, "{}: {}; expected the folder of a run, with epochs.csv in it", folder.string(),
         !fs::exists(folder)        ? "no such folder"
         : fs::is_directory(folder) ? "holds no epochs.csv"
                                    : "is not a folder");
  }
  RunFolder run;
  run.path = folder;
  run.epochs = read_rows(folder / "epochs.csv", epoch_rows);
  run.validation = read_rows(folder / "validation.csv", validation_rows);
  run.dice = read_rows(folder / "dice.csv", dice_rows);
  run.timing = read_rows(folder / "timing.csv", timing_rows);
  return run;
}

std::string folder_name(const fs::path& folder) {
  return fs::weakly_canonical(folder).filename().string();
}

// The names in the run columns of a folder (several in a folder that is a merged report itself).
std::set<std::string> names_in(const RunFolder& run) {
  std::set<std::string> names;
  for (const EpochRow& row : run.epochs) names.insert(row.run);
  for (const DiceRow& row : run.dice) names.insert(row.run);
  for (const TimingRow& row : run.timing) names.insert(row.run);
  return names;
}

void rename(RunFolder& run, const std::string& suffix) {
  for (EpochRow& row : run.epochs) row.run += suffix;
  for (ValidationRow& row : run.validation) row.run += suffix;
  for (DiceRow& row : run.dice) row.run += suffix;
  for (TimingRow& row : run.timing) row.run += suffix;
}

// Runs of one name in different folders would pass for repeats of each other: those get their folder's name,
// or its whole path, behind theirs.
void tell_apart(std::vector<RunFolder>& runs) {
  std::map<std::string, int> uses, folders;
  for (const RunFolder& run : runs) {
    for (const std::string& name : names_in(run)) ++uses[name];
    ++folders[folder_name(run.path)];
  }
  for (RunFolder& run : runs) {
    const std::set<std::string> names = names_in(run);
    const std::string folder = folder_name(run.path);
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return uses[name] > 1; })) {
      rename(run, format(" ({})", folders[folder] > 1 ? fs::weakly_canonical(run.path).string() : folder));
    }
    const std::set<std::string> final_names = names_in(run);
    run.name = final_names.empty()
                   ? folder
                   : join(std::vector<std::string>(final_names.begin(), final_names.end()), ", ");
  }
}

std::vector<RunFolder> read_runs(const std::vector<fs::path>& folders) {
  std::vector<RunFolder> runs;
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    if (seen.insert(fs::weakly_canonical(folder)).second) runs.push_back(read_run(folder));
  }
  if (runs.empty()) fail(Exit::usage, "no run to report: name at least one run folder");
  tell_apart(runs);
  return runs;
}

template <class Row>
std::vector<Row> merged(const std::vector<RunFolder>& runs, std::vector<Row> RunFolder::*table) {
  std::vector<Row> rows;
  for (const RunFolder& run : runs) rows.insert(rows.end(), (run.*table).begin(), (run.*table).end());
  return rows;
}

void write_picture(const Picture& picture, const fs::path& out, const std::string& name) {
  write_file(out / (name + ".svg"), picture.svg);
  write_file(out / (name + ".png"), picture.png);
}

}  // namespace

void report(const std::vector<fs::path>& folders, const fs::path& out) {
  ReportParts parts;
  parts.runs = read_runs(folders);
  const auto epochs = merged(parts.runs, &RunFolder::epochs);
  const auto validation = merged(parts.runs, &RunFolder::validation);
  const auto dice = merged(parts.runs, &RunFolder::dice);
  const auto timing = merged(parts.runs, &RunFolder::timing);
  parts.boxes = box_rows(dice);

  make_writable_directory(out);
  // In place there is nothing to merge, and a run that is still going must not lose a row to a copy.
  if (parts.runs.size() > 1 || fs::weakly_canonical(parts.runs[0].path) != fs::weakly_canonical(out)) {
    write_csv(out / "epochs.csv", epochs_csv(epochs));
    write_csv(out / "timing.csv", timing_csv(timing));
    if (!validation.empty()) write_csv(out / "validation.csv", validation_csv(validation));
    if (!dice.empty()) write_csv(out / "dice.csv", dice_csv(dice));
  }
  if (!dice.empty()) write_csv(out / "boxplot.csv", boxplot_csv(parts.boxes));

  // Without gnuplot the tables and the page are still worth having; the failure is told at the end.
  Exit problem = Exit::done;
  try {
    parts.epochs_plot = epochs_plot(epochs);
    if (!validation.empty()) parts.validation_plot = validation_plot(validation);
    if (!dice.empty()) parts.box_plot = box_plot(parts.boxes);
  } catch (const Error& error) {
    parts.plot_problem = error.what();
    problem = error.exit();
  }
  if (!parts.epochs_plot.svg.empty()) write_picture(parts.epochs_plot, out, "epochs");
  if (!parts.validation_plot.svg.empty()) write_picture(parts.validation_plot, out, "validation");
  if (!parts.box_plot.svg.empty()) write_picture(parts.box_plot, out, "boxplot");
  write_file(out / "report.html", report_page(parts, out));
  if (problem != Exit::done) throw Error(problem, parts.plot_problem);
}

}  // namespace voxswap
