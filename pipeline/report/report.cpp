#include "pipeline/report/report.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/own_folder.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/plots.h"
#include "pipeline/report/same_data.h"

namespace voxswap::pipeline {

namespace {

ReportParts gather(RunFolders folders, const ScoreEnsembles& score_ensembles) {
  ReportParts parts;
  parts.runs = std::move(folders.runs);
  parts.notes = std::move(folders.notes);
  std::vector<RunInTable> members;
  for (const RunFolder& run : parts.runs) {
    each_table([&](const char*, auto table) { append(parts.*table, run.*table); });
    append(members, run.in_tables());
  }
  parts.groups = group_runs(members);
  std::vector<DiceRow> scores = rows_by_data(parts.runs, parts.notes);
  parts.boxes = box_rows(scores, parts.groups);
  parts.comparisons = compare(parts.groups, scores);
  if (score_ensembles) parts.ensembles = ensembles_of(parts.runs, parts.groups, score_ensembles);
  std::vector<RunGroup> ranked = parts.groups;
  append(ranked, parts.ensembles.groups);
  append(scores, parts.ensembles.rows);
  parts.ranking = rank(ranked, scores, parts.ensembles.groups.size());
  parts.folds = folds_of(parts.runs, parts.groups);
  return parts;
}

// All plots of a report. `width`: of their layout in pixels (plots.h).
std::vector<Picture> draw_pictures(const ReportParts& parts, int width = 0) {
  std::vector<Picture> pictures;
  const auto add = [&](const char* name, Picture picture) {
    if (picture.svg.empty()) return;
    pictures.push_back(std::move(picture));
    pictures.back().name = name;
  };
  if (!parts.dice.empty()) add("dice", dice_plot(parts.boxes, parts.groups, width));
  add("pareto", pareto_plot(parts.ranking, parts.timing, parts.groups, width));
  if (!parts.dice.empty()) add("boxplot", box_plot(parts.boxes, parts.groups, width));
  if (!parts.epochs.empty()) add("epochs", epochs_plot(parts.epochs, parts.validation, parts.groups, width));
  if (!parts.validation.empty()) add("validation", validation_plot(parts.validation, parts.groups, width));
  add("reliability", reliability_plot(parts.reliability, parts.groups, width));
  add("timing", timing_plot(parts.timing, parts.groups, width));
  if (!parts.memory.empty()) add("memory", memory_plot(parts.memory, parts.groups, width));
  return pictures;
}

void write_paper(const ReportParts& parts, const Paper& paper, const Outputs& outputs) {
  constexpr double points_per_millimetre = 72 / 25.4, letters_points = 7, least_points = 5;
  make_writable_directory(paper.folder);
  const auto write = [&](const std::string& name, const std::string& content) {
    const fs::path file = paper.folder / name;
    outputs.write(file, [&] { write_file(file, content); });
  };
  const double points = paper.width_millimetres * points_per_millimetre;
  const int width = static_cast<int>(std::lround(points / letters_points * letter_height));
  for (const Picture& picture : draw_pictures(parts, width)) {
    const PaperPicture drawn = draw_for_paper(picture, points);
    write(picture.name + ".svg", drawn.svg);
    write(picture.name + ".pdf", drawn.pdf);
    if (const double height = points / picture.width * letter_height; height < least_points)
      log::warn("{}.pdf: its text is {:.1f} points high at this width. Set a larger --width", picture.name,
                height);
  }
  write("methods.md", paper.methods(parts.runs));
}

// Removes what an earlier report in this folder wrote and this one does not.
void remove_earlier(const ReportParts& parts, const std::string& name) {
  const fs::path file = parts.out / name;
  if (parts.in_place)
    remove_own(file);
  else if (fs::exists(file) && !remove_output(file, parts.out))
    log::warn("{}: is not of this report. It was not written by voxswap, or was changed since, so it stays",
              file.string());
}

// Plots that were not drawn this time.
void remove_earlier_pictures(const ReportParts& parts) {
  for (const char* name :
       {"dice", "pareto", "boxplot", "reliability", "epochs", "validation", "timing", "memory"})
    if (std::ranges::find(parts.pictures, name, &Picture::name) == parts.pictures.end())
      for (const char* extension : {".svg", ".png"}) remove_earlier(parts, std::string(name) + extension);
}

}  // namespace

BestModel report(const std::vector<fs::path>& folders, const fs::path& out, const ReadSettings& read_settings,
                 const ReportFrame& frame, const Outputs& outputs, const ScoreEnsembles& score_ensembles,
                 const Paper& paper) {
  ReportParts parts = gather(read_runs(folders, out, read_settings), score_ensembles);
  parts.frame = frame;
  parts.out = out;
  const auto is_out = [&](const RunFolder& run) {
    return fs::weakly_canonical(run.path) == fs::weakly_canonical(out);
  };
  parts.in_place = parts.runs.size() == 1 && is_out(parts.runs[0]);
  append(parts.notes, parts.ensembles.notes);
  for (const std::string& note : parts.notes) log::warn("{}", note);
  if (const std::string note = stopped_note(parts); !note.empty()) log::info("{}", note);
  for (const std::string& note : parts.folds.notes) log::warn("{}", note);
  if (!parts.in_place && std::ranges::any_of(parts.runs, is_out))
    fail(Exit::usage,
         "{}: is one of the runs, and the report would overwrite its tables. Choose another --out",
         out.string());
  make_writable_directory(out);
  const auto write = [&](const std::string& name, const auto& produce) {
    const fs::path file = out / name;
    if (parts.in_place)
      produce(file);
    else
      outputs.write(file, [&] { produce(file); });
  };
  if (!parts.in_place) outputs.check(out / "report.html");
  // In place, merged tables would replace those of the run, which may still be appending rows.
  for (const ReportTable& table : report_tables(parts)) {
    if (parts.in_place && table.merged) continue;
    if (table.written)
      write(table.file, [&](const fs::path& file) { write_csv(file, table.csv); });
    else
      remove_earlier(parts, table.file);
  }

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
  remove_earlier_pictures(parts);
  const auto write_text = [&](const std::string& name, const std::string& text) {
    write(name, [&](const fs::path& file) { write_file(file, text); });
  };
  for (const Picture& picture : parts.pictures) {
    write_text(picture.name + ".svg", picture.svg);
    write_text(picture.name + ".png", picture.png);
  }
  write_text("report.html", report_page(parts));
  if (!paper.folder.empty()) write_paper(parts, paper, outputs);
  if (problem != Exit::done) throw Error(problem, parts.plot_problem);
  return best_model(parts);
}

}  // namespace voxswap::pipeline
