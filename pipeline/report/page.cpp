#include "pipeline/report/page.h"

#include <algorithm>
#include <cmath>

#include "base/xml.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"

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
  return html_notes(notes);
}

std::string training_section(const ReportParts& parts) {
  const std::string content =
      html_beside(picture_section(parts, "epochs",
                                  "One line per run and repeat. The ring marks the epoch "
                                  "with the lowest "
                                  "validation loss; prediction uses its weights."),
                  picture_section(parts, "validation",
                                  "Mean Dice of the validation cases after each epoch, "
                                  "against training time."));
  return content.empty() ? "" : html_secondary_section("training", "Training", content);
}

// Links to tables embedded in the page and to pictures in its folder.
std::string files_section(const ReportParts& parts) {
  std::string items;
  for (const ReportTable& table : report_tables(parts))
    if (!table.csv.rows.empty())
      items += format("<li>{}</li>\n", html_download(table.file, csv_text(table.csv)));
  std::vector<std::string> beside;
  const auto add = [&](const std::string& name) {
    beside.push_back(format("<a href=\"{0}\">{0}</a>", name));
  };
  for (const Picture& picture : parts.pictures)
    for (const char* extension : {".svg", ".png"}) add(picture.name + extension);
  for (const char* name :
       {"arena.svg", "timeline.json", "split.csv", "experiment.yaml", "dataset.json", "plan.json",
        postprocessing_file, "checkpoints", "predictions", "slices", "viewer"})
    if (fs::exists(parts.out / name)) add(name);
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
                       : format(
                             "{} of {} were stopped early by successive "
                             "halving and are not compared: {}",
                             names.size(), counted(parts.runs.size(), "run"), listed(names, 6));
}

std::string report_page(const ReportParts& parts) {
  std::vector<std::string> names;
  for (const RunFolder& run : parts.runs) names.push_back(run.name);
  const std::string title = !parts.frame.title.empty() ? parts.frame.title
                            : names.size() <= 3        ? join(names, ", ")
                                                       : counted(names.size(), "run");
  const std::string body = format("<h1>{}</h1>\n", xml_escaped(title)) + answer_section(parts) +
                           notes_section(parts) + ranking_section(parts) + facts_section(parts) +
                           parts.frame.section + classes_section(parts) + dice_section(parts) +
                           folds_section(parts) + comparison_section(parts) + postprocessing_section(parts) +
                           calibration_section(parts) + viewer_section(parts) + cases_section(parts) +
                           training_section(parts) + speed_section(parts) + memory_section(parts) +
                           data_section(parts) + runs_section(parts) + files_section(parts);
  return html_page(title + " - voxswap report", body);
}

std::vector<ReportTable> report_tables(const ReportParts& parts) {
  std::vector<ReportTable> tables;
  const auto add = [&](const char* file, const auto& rows, bool merged) {
    const bool always = file == std::string("epochs.csv") || file == std::string("timing.csv");
    tables.push_back({file, csv_of(rows), merged, !rows.empty() || always});
  };
  each_table([&](const char* file, auto table) { add(file, parts.*table, true); });
  add("confusion.csv", confusion_rows(confusions(parts.classes)), false);
  add("folds.csv", parts.folds.rows, false);
  add("ensembles.csv", parts.ensembles.rows, false);
  add("boxplot.csv", parts.boxes, false);
  add("comparison.csv", parts.comparisons, false);
  return tables;
}

std::string decimals(double value) {
  return std::isnan(value) ? "-" : format("{:.3f}", value);
}

namespace {

// Group indices from best to worst; in their given order if there is no
// ranking.
std::vector<std::size_t> groups_from_best(const ReportParts& parts) {
  std::vector<std::size_t> order;
  for (const RankedGroup& ranked : parts.ranking.groups)
    if (ranked.group < parts.groups.size()) order.push_back(ranked.group);
  for (std::size_t i = 0; i < parts.groups.size(); ++i) place_in(order, i);
  return order;
}

}  // namespace

ShownRuns shown_runs(const ReportParts& parts, const char* file, std::size_t most) {
  ShownRuns result;
  for (const std::size_t group : groups_from_best(parts)) {
    const auto run = std::ranges::find_if(parts.runs, [&](const RunFolder& one) {
      return fs::exists(one.path / file) && one.group_in(parts.groups) == group;
    });
    if (run == parts.runs.end()) {
      result.left_out.push_back(parts.groups[group].label + " (no pictures)");
      continue;
    }
    ShownRun& shown = result.runs.emplace_back();
    shown.run = &*run;
    shown.group = parts.groups[group].label;
    for (const DiceRow& row : run->dice)
      if (row.repeat == run->dice.front().repeat && row.evaluated_at == run->dice.front().evaluated_at)
        shown.cases[row.case_id].push_back(&row);
  }
  for (; result.runs.size() > most; result.runs.erase(result.runs.end() - 2))
    result.left_out.push_back(result.runs[result.runs.size() - 2].group);
  return result;
}

std::string picture_section(const ReportParts& parts, const std::string& name, const std::string& caption) {
  const auto found = std::ranges::find(parts.pictures, name, &Picture::name);
  return found == parts.pictures.end() ? "" : html_figure(inline_svg(found->svg, name), caption);
}

std::string table_section(const Rows& rows, const std::string& file, const Csv& csv) {
  constexpr std::size_t most_rows = 36,
                        most_cards = 4;  // longer ones are collapsed, cards on narrow screens
  const Csv as_shown{rows.front(), {rows.begin() + 1, rows.end()}};
  const std::string table =
      html_table(rows) + format("<p class=\"download\">{}</p>\n",
                                html_download(file, csv_text(csv.header.empty() ? as_shown : csv)));
  if (as_shown.rows.size() <= most_cards) return table;
  const std::string words = counted(std::ssize(as_shown.rows), "row");
  if (as_shown.rows.size() <= most_rows)
    return html_secondary(format("<span class=\"rows\">{}</span>", words), table);
  return format("<details><summary>{}</summary>\n{}</details>\n", words, table);
}

namespace {

void erase_column(Rows& rows, std::size_t column) {
  for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

bool is_common(const Rows& rows, std::size_t column, const std::string& value) {
  return std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] == value; });
}

}  // namespace

std::string take_out_common(Rows& rows, const std::string& heading) {
  const auto found = std::ranges::find(rows.front(), heading);
  if (found == rows.front().end() || rows.size() < 2) return {};
  const auto column = static_cast<std::size_t>(found - rows.front().begin());
  const std::string common = rows[1][column];
  if (!is_common(rows, column, common)) return {};
  erase_column(rows, column);
  return common;
}

Rows without_empty_columns(Rows rows) {
  if (rows.size() == 1) return rows;
  for (std::size_t column = rows.front().size(); column-- > 0;)
    if (is_common(rows, column, "")) erase_column(rows, column);
  return rows;
}

}  // namespace voxswap::pipeline
