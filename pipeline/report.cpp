#include "pipeline/report.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "pipeline/gnuplot.h"
#include "pipeline/page.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

template <class Row>
std::vector<Row> merged(const std::vector<RunFolder>& runs, std::vector<Row> RunFolder::*table) {
  std::vector<Row> rows;
  for (const RunFolder& run : runs) rows.insert(rows.end(), (run.*table).begin(), (run.*table).end());
  return rows;
}

ReportParts gather(RunFolders folders) {
  ReportParts parts;
  parts.runs = std::move(folders.runs);
  parts.notes = std::move(folders.notes);
  parts.epochs = merged(parts.runs, &RunFolder::epochs);
  parts.validation = merged(parts.runs, &RunFolder::validation);
  parts.dice = merged(parts.runs, &RunFolder::dice);
  parts.timing = merged(parts.runs, &RunFolder::timing);
  parts.memory = merged(parts.runs, &RunFolder::memory);
  parts.phases = merged(parts.runs, &RunFolder::phases);
  std::vector<RunInTable> members;
  for (const RunFolder& run : parts.runs) {
    for (RunInTable& member : run.in_tables()) members.push_back(std::move(member));
  }
  parts.groups = group_runs(members);
  parts.boxes = box_rows(parts.dice, parts.groups);
  parts.comparisons = compare(parts.groups, parts.dice);
  parts.ranking = rank(parts.groups, parts.dice);
  return parts;
}

// In place there is nothing to merge, and a run that is still going must not lose a row to a copy.
void write_tables(const ReportParts& parts, const fs::path& out) {
  if (parts.runs.size() > 1 || fs::weakly_canonical(parts.runs[0].path) != fs::weakly_canonical(out)) {
    write_csv(out / "epochs.csv", epochs_csv(parts.epochs));
    write_csv(out / "timing.csv", timing_csv(parts.timing));
    if (!parts.validation.empty()) write_csv(out / "validation.csv", validation_csv(parts.validation));
    if (!parts.memory.empty()) write_csv(out / "memory.csv", memory_csv(parts.memory));
    if (!parts.phases.empty()) write_csv(out / "phases.csv", phases_csv(parts.phases));
    if (!parts.dice.empty()) write_csv(out / "dice.csv", dice_csv(parts.dice));
  }
  if (!parts.dice.empty()) write_csv(out / "boxplot.csv", boxplot_csv(parts.boxes));
  if (!parts.comparisons.empty()) write_csv(out / "comparison.csv", comparison_csv(parts.comparisons));
}

// Empty pictures are left out: there was nothing to draw.
void draw_pictures(ReportParts& parts) {
  const auto add = [&](const char* name, Picture picture) {
    if (!picture.svg.empty()) parts.pictures.push_back({name, std::move(picture)});
  };
  if (!parts.dice.empty()) add("boxplot", box_plot(parts.boxes, parts.groups));
  if (!parts.epochs.empty()) add("epochs", epochs_plot(parts.epochs, parts.validation, parts.groups));
  if (!parts.validation.empty()) add("validation", validation_plot(parts.validation, parts.groups));
  add("timing", timing_plot(parts.timing, parts.groups));
  if (!parts.memory.empty()) add("memory", memory_plot(parts.memory, parts.groups));
}

void remove_pictures(const fs::path& out) {
  std::error_code absent;
  for (const char* name : {"boxplot", "epochs", "validation", "timing", "memory"}) {
    for (const char* extension : {".svg", ".png"}) fs::remove(out / (std::string(name) + extension), absent);
  }
}

}  // namespace

void report(const std::vector<fs::path>& folders, const fs::path& out, const ReportFrame& frame) {
  ReportParts parts = gather(read_runs(folders, out));
  parts.frame = frame;
  for (const std::string& note : parts.notes) log::warn("{}", note);
  for (const RunFolder& run : parts.runs) {
    if (parts.runs.size() > 1 && fs::weakly_canonical(run.path) == fs::weakly_canonical(out))
      fail(Exit::usage,
           "{}: is one of the runs, whose tables the report would overwrite; choose another --out",
           out.string());
  }
  make_writable_directory(out);
  write_tables(parts, out);

  // Without plots the tables and the page are still worth having; a failure is told at the end.
  Exit problem = Exit::done;
  try {
    draw_pictures(parts);
  } catch (const NoGnuplot& error) {
    parts.plot_problem = error.what();
    log::warn("{}: {}", out.string(), error.what());
  } catch (const Error& error) {
    parts.plot_problem = error.what();
    problem = error.exit();
  }
  remove_pictures(out);
  for (const auto& [name, picture] : parts.pictures) {
    write_file(out / (name + ".svg"), picture.svg);
    write_file(out / (name + ".png"), picture.png);
  }
  write_file(out / "report.html", report_page(parts, out));
  if (problem != Exit::done) throw Error(problem, parts.plot_problem);
}

}  // namespace voxswap
