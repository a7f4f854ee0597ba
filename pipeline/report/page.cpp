#include "pipeline/report/page.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/html.h"

namespace voxswap::pipeline {

namespace {

std::string notes_section(const ReportParts& parts) {
  std::vector<std::string> notes = parts.notes;
  if (const std::string note = stopped_note(parts); !note.empty()) notes.push_back(note);
  if (!parts.plot_problem.empty()) notes.push_back(parts.plot_problem);
  for (const RunFolder& run : parts.runs) {
    if (const std::string state = run.state(); run.stopped.empty() && state.starts_with("stopped"))
      notes.push_back(format("{} {}: this page shows the results until then", run.name, state));
  }
  std::string html;
  for (const std::string& note : notes) html += format("<p class=\"note\">{}</p>\n", xml_escaped(note));
  return html;
}

std::string training_section(const ReportParts& parts) {
  const std::string content = html_beside(
      picture_section(parts, "epochs",
                      "One line per run and repeat. The ring marks the epoch with the lowest "
                      "validation loss; prediction uses its weights."),
      picture_section(parts, "validation",
                      "Mean Dice of the validation cases after each epoch, against training time."));
  return content.empty() ? "" : html_secondary_section("training", "Training", content);
}

// Links to tables embedded in the page and to pictures in its folder.
std::string files_section(const ReportParts& parts, const fs::path& out) {
  std::string items;
  for (const ReportTable& table : report_tables(parts))
    if (!table.csv.rows.empty())
      items += format("<li>{}</li>\n", html_download(table.file, csv_text(table.csv)));
  std::vector<std::string> beside;
  for (const NamedPicture& picture : parts.pictures) {
    for (const char* extension : {".svg", ".png"})
      beside.push_back(format("<a href=\"{0}\">{0}</a>", picture.name + extension));
  }
  for (const char* name :
       {"arena.svg", "timeline.json", "split.csv", "experiment.yaml", "dataset.json", "plan.json",
        postprocessing_file, "checkpoints", "predictions", "slices", "viewer"}) {
    if (fs::exists(out / name)) beside.push_back(format("<a href=\"{0}\">{0}</a>", name));
  }
  return html_secondary_section("files", "Files",
                                "<p>Tables in this page:</p>\n<ul class=\"files\">\n" + items +
                                    "</ul>\n<p>Files beside this page: " + join(beside, ", ") + "</p>\n");
}

}  // namespace

std::string stopped_note(const ReportParts& parts) {
  std::vector<std::string> names;
  for (const RunFolder& run : parts.runs)
    if (!run.stopped.empty()) names.push_back(run.name);
  return names.empty() ? ""
                       : format("{} of {} were stopped early by successive halving and are not compared: {}",
                                names.size(), counted(parts.runs.size(), "run"), listed(names, 6));
}

std::string report_page(const ReportParts& parts, const fs::path& out) {
  std::vector<std::string> names;
  for (const RunFolder& run : parts.runs) names.push_back(run.name);
  const std::string title = !parts.frame.title.empty() ? parts.frame.title
                            : names.size() <= 3        ? join(names, ", ")
                                                       : counted(names.size(), "run");
  const std::string body =
      format("<h1>{}</h1>\n", xml_escaped(title)) + answer_section(parts) + notes_section(parts) +
      ranking_section(parts) + facts_section(parts) + parts.frame.section + classes_section(parts) +
      dice_section(parts) + folds_section(parts) + comparison_section(parts) +
      postprocessing_section(parts, out) + calibration_section(parts) + viewer_section(parts) +
      cases_section(parts) + training_section(parts) + speed_section(parts) + memory_section(parts) +
      data_section(parts) + runs_section(parts) + files_section(parts, out);
  return html_page(title + " - voxswap report", body);
}

}  // namespace voxswap::pipeline
