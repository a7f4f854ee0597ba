#include "pipeline/page.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "pipeline/html.h"
#include "pipeline/page_parts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_rows = 36;  // of a table before it is folded

std::string notes_section(const ReportParts& parts) {
  std::vector<std::string> notes = parts.notes;
  if (!parts.plot_problem.empty()) notes.push_back(parts.plot_problem);
  for (const RunFolder& run : parts.runs) {
    if (const std::string state = run.state(); state.starts_with("stopped"))
      notes.push_back(format("{} {}: what follows is what it had reached", run.name, state));
  }
  std::string html;
  for (const std::string& note : notes) html += format("<p class=\"note\">{}</p>\n", html_escape(note));
  return html;
}

std::string training_section(const ReportParts& parts) {
  return "<h2>Training</h2>\n<div class=\"plots\">\n" +
         picture_section(
             parts, "epochs",
             "A line per run and repeat. The ring is the epoch with the lowest validation loss, whose "
             "weights are kept and predict.") +
         picture_section(parts, "validation",
                         "Mean Dice of the validation cases after each epoch, over the time of training.") +
         "</div>\n";
}

// The tables travel with the page; pictures lie beside it.
std::string files_section(const ReportParts& parts, const fs::path& out) {
  std::string items;
  const auto table = [&](const char* name, bool there, const auto& csv) {
    if (there) items += format("<li>{}</li>\n", html_download(name, csv_text(csv())));
  };
  table("dice.csv", !parts.dice.empty(), [&] { return dice_csv(parts.dice); });
  table("boxplot.csv", !parts.boxes.empty(), [&] { return boxplot_csv(parts.boxes); });
  table("comparison.csv", !parts.comparisons.empty(), [&] { return comparison_csv(parts.comparisons); });
  table("epochs.csv", !parts.epochs.empty(), [&] { return epochs_csv(parts.epochs); });
  table("validation.csv", !parts.validation.empty(), [&] { return validation_csv(parts.validation); });
  table("timing.csv", !parts.timing.empty(), [&] { return timing_csv(parts.timing); });
  table("memory.csv", !parts.memory.empty(), [&] { return memory_csv(parts.memory); });
  table("phases.csv", !parts.phases.empty(), [&] { return phases_csv(parts.phases); });
  std::vector<std::string> beside;
  for (const NamedPicture& picture : parts.pictures) {
    for (const char* extension : {".svg", ".png"})
      beside.push_back(format("<a href=\"{0}\">{0}</a>", picture.name + extension));
  }
  for (const char* name : {"arena.svg", "timeline.json", "split.csv", "experiment.yaml", "dataset.json",
                           "plan.json", "checkpoints", "predictions", "slices"}) {
    if (fs::exists(out / name)) beside.push_back(format("<a href=\"{0}\">{0}</a>", name));
  }
  return "<h2>Files</h2>\n<p>In this page:</p>\n<ul>\n" + items +
         "</ul>\n<p>Beside it: " + join(beside, ", ") + "</p>\n";
}

}  // namespace

std::string decimals(double value) {
  return std::isnan(value) ? "nan" : format("{:.3f}", value);
}

std::string signed_decimals(double value) {
  return std::isnan(value) ? "nan" : format("{:+.3f}", value);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "nan";
  return p < 1e-4 ? "< 0.0001" : format("{:.4f}", p);
}

std::string grid_words(const std::string& evaluated_at) {
  if (evaluated_at == "native") return "the cases' own grids";
  return evaluated_at == "training" ? "the training grid" : "a grid of " + evaluated_at;
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most));
  return format("{} and {} more", join(first, ", "), names.size() - most);
}

std::string picture_section(const ReportParts& parts, const std::string& name, const std::string& caption) {
  for (const NamedPicture& picture : parts.pictures) {
    if (picture.name == name) return html_figure(inline_svg(picture.picture.svg, name), caption);
  }
  return {};
}

std::string table_section(const Rows& rows, const std::string& file, const Csv& csv) {
  const std::string link = format("<p class=\"download\">{}</p>\n", html_download(file, csv_text(csv)));
  if (rows.size() - 1 <= most_rows) return html_table(rows) + link;
  return format("<details><summary>{} rows</summary>\n{}</details>\n", rows.size() - 1, html_table(rows)) +
         link;
}

std::string table_section(const Rows& rows, const std::string& file) {
  return table_section(rows, file, {rows.front(), {rows.begin() + 1, rows.end()}});
}

std::string take_out_common(Rows& rows, const std::string& heading) {
  const auto found = std::find(rows.front().begin(), rows.front().end(), heading);
  if (found == rows.front().end() || rows.size() < 2) return {};
  const auto column = static_cast<std::size_t>(found - rows.front().begin());
  const std::string common = rows[1][column];
  if (std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] != common; }))
    return {};
  for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  return common;
}

Rows without_empty_columns(Rows rows) {
  for (std::size_t column = rows.front().size(); column-- > 0;) {
    const bool empty =
        std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column].empty(); });
    if (!empty || rows.size() == 1) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return rows;
}

std::string report_page(const ReportParts& parts, const fs::path& out) {
  std::vector<std::string> names;
  for (const RunFolder& run : parts.runs) names.push_back(run.name);
  const std::string title = !parts.frame.title.empty() ? parts.frame.title
                            : names.size() <= 3        ? join(names, ", ")
                                                       : format("{} runs", names.size());
  const std::string body = format("<h1>{}</h1>\n", html_escape(title)) + answer_section(parts) +
                           notes_section(parts) + facts_section(parts) + parts.frame.section +
                           dice_section(parts) + comparison_section(parts) + cases_section(parts) +
                           training_section(parts) + speed_section(parts) + memory_section(parts) +
                           runs_section(parts) + files_section(parts, out);
  return html_page(title + " - voxswap report", body);
}

}  // namespace voxswap
