#include "pipeline/report/report.h"

#include <algorithm>
#include <functional>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

void rank_all(ReportParts& parts) {
  std::vector<RunGroup> groups = parts.groups;
  const std::vector<RunGroup>& ensembles = parts.ensembles.groups;
  groups.insert(groups.end(), ensembles.begin(), ensembles.end());
  std::vector<DiceRow> rows = parts.dice;
  rows.insert(rows.end(), parts.ensembles.rows.begin(), parts.ensembles.rows.end());
  parts.ranking = rank(groups, rows, ensembles.size());
}

ReportParts gather(RunFolders folders, const ScoreEnsembles& score_ensembles) {
  ReportParts parts;
  parts.runs = std::move(folders.runs);
  parts.notes = std::move(folders.notes);
  for (const RunFolder& run : parts.runs)
    each_table([&](const char*, auto table) {
      (parts.*table).insert((parts.*table).end(), (run.*table).begin(), (run.*table).end());
    });
  std::vector<RunInTable> members;
  for (const RunFolder& run : parts.runs) {
    for (RunInTable& member : run.in_tables()) members.push_back(std::move(member));
  }
  parts.groups = group_runs(members);
  parts.boxes = box_rows(parts.dice, parts.groups);
  parts.comparisons = compare(parts.groups, parts.dice);
  if (score_ensembles) parts.ensembles = ensembles_of(parts.runs, parts.groups, score_ensembles);
  rank_all(parts);
  parts.folds = folds_of(parts.runs, parts.groups);
  return parts;
}

bool is_in_place(const ReportParts& parts, const fs::path& out) {
  return parts.runs.size() == 1 && fs::weakly_canonical(parts.runs[0].path) == fs::weakly_canonical(out);
}

using Write =
    std::function<void(const std::string& name, const std::function<void(const fs::path&)>& produce)>;

// In place, merged tables would replace those of the run, which may still be appending rows.
void write_tables(const ReportParts& parts, bool in_place, const Write& write) {
  for (const ReportTable& table : report_tables(parts))
    if (!in_place || !table.merged)
      write(table.file, [&](const fs::path& file) { write_csv(file, table.csv); });
}

// Removes the plots of an earlier report; outside a run's folder, only files that `outputs` allows to
// overwrite.
void remove_pictures(const fs::path& out, bool in_place, const Outputs& outputs) {
  for (const char* name :
       {"dice", "pareto", "boxplot", "reliability", "epochs", "validation", "timing", "memory"}) {
    for (const char* extension : {".svg", ".png"}) {
      const fs::path file = out / (std::string(name) + extension);
      if (!in_place) outputs.check(file);
      remove_own(file);
    }
  }
}

}  // namespace

BestModel report(const std::vector<fs::path>& folders, const fs::path& out, const ReadSettings& read_settings,
                 const ReportFrame& frame, const Outputs& outputs, const ScoreEnsembles& score_ensembles,
                 const Paper& paper) {
  ReportParts parts = gather(read_runs(folders, out, read_settings), score_ensembles);
  parts.frame = frame;
  const std::vector<std::string>& left_out = parts.ensembles.notes;
  parts.notes.insert(parts.notes.end(), left_out.begin(), left_out.end());
  for (const std::string& note : parts.notes) log::warn("{}", note);
  if (const std::string note = stopped_note(parts); !note.empty()) log::info("{}", note);
  for (const std::string& note : parts.folds.notes) log::warn("{}", note);
  for (const RunFolder& run : parts.runs) {
    if (parts.runs.size() > 1 && fs::weakly_canonical(run.path) == fs::weakly_canonical(out))
      fail(Exit::usage,
           "{}: is one of the runs, and the report would overwrite its tables. Choose another --out",
           out.string());
  }
  make_writable_directory(out);
  const bool in_place = is_in_place(parts, out);
  const Write write = [&](const std::string& name, const std::function<void(const fs::path&)>& produce) {
    const fs::path file = out / name;
    if (in_place)
      produce(file);
    else
      outputs.write(file, [&] { produce(file); });
  };
  if (!in_place) outputs.check(out / "report.html");
  write_tables(parts, in_place, write);

  // Without plots, tables and page are still useful; errors are thrown at the end.
  Exit problem = Exit::done;
  try {
    parts.pictures = draw_pictures(parts);
  } catch (const NoGnuplot& error) {
    parts.plot_problem = error.what();
    log::warn("{}: {}", out.string(), error.what());
  } catch (const Error& error) {
    parts.plot_problem = error.what();
    problem = error.exit();
  }
  remove_pictures(out, in_place, outputs);
  for (const auto& [name, picture] : parts.pictures) {
    write(name + ".svg", [&](const fs::path& file) { write_file(file, picture.svg); });
    write(name + ".png", [&](const fs::path& file) { write_file(file, picture.png); });
  }
  write("report.html", [&](const fs::path& file) { write_file(file, report_page(parts, out)); });
  if (!paper.folder.empty()) write_paper(parts, paper, outputs);
  if (problem != Exit::done) throw Error(problem, parts.plot_problem);
  return best_model(parts);
}

}  // namespace voxswap::pipeline
