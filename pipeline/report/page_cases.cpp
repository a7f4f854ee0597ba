// The sections on cases: examples (the worst, median and best one of every group of runs), and warnings about
// their data.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/xml.h"
#include "data/volumes/picture.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/page.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

fs::path picture_of(const RunFolder& run, const std::string& case_id) {
  return run.path / "slices" / (case_id + ".png");
}

// Cases that all runs have, from the lowest to the highest mean Dice.
std::vector<std::string> ranked(const std::vector<ShownRun>& runs) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [id, rows] : runs.front().cases) {
    double sum = 0;
    for (const ShownRun& run : runs) {
      const auto found = run.cases.find(id);
      sum += found == run.cases.end() ? std::nan("") : mean_of(found->second, &DiceRow::dice);
    }
    if (!std::isnan(sum)) order.emplace_back(sum, id);
  }
  return in_order(std::move(order));
}

// "whole_tumor 0.871", with a colour swatch if the picture uses colours.
std::string scores_of(const std::vector<const DiceRow*>& rows, std::vector<std::string> regions,
                      bool has_colors) {
  std::string html;
  for (const DiceRow* row : rows) {
    html += format("<span class=\"score\">{}{} {}</span>\n",
                   has_colors ? format("<span class=\"swatch\" style=\"background:{}\"></span> ",
                                       plot_color(place_in(regions, row->region)))
                              : "",
                   xml_escaped(with_spaces(row->region)), decimals(row->dice));
  }
  return html;
}

// Titles of the two columns of a picture (slice_view.h).
std::string labels_of(const std::string& description) {
  if (description.find("ground truth left, prediction right") == description.npos) return {};
  return "<div class=\"columns\"><span>ground truth</span><span>prediction</span></div>";
}

std::string view(const ShownRun& shown, const std::string& case_id, bool has_name) {
  const std::string png = read_file(picture_of(*shown.run, case_id));
  const bool has_colors = !data::png_text(png, "Comment").empty();
  const std::string description = data::png_text(png, "Description");
  return format(
      "<figure>{}<img alt=\"{}\" "
      "src=\"data:image/png;base64,{}\"/><figcaption>{}{}<br/>{}</figcaption></figure>\n",
      labels_of(description), xml_escaped(case_id), base64(png),
      has_name ? format("<b>{}</b>\n", xml_escaped(shown.group)) : "",
      scores_of(shown.cases.at(case_id), distinct(shown.run->dice, &DiceRow::region), has_colors),
      xml_escaped(description));
}

std::string three_cases(const std::vector<ShownRun>& runs, bool has_names) {
  const std::vector<std::string> cases = ranked(runs);
  if (cases.empty()) return {};
  std::vector<std::pair<std::string, std::size_t>> chosen = {
      {"Worst", 0}, {"Median", (cases.size() - 1) / 2}, {"Best", cases.size() - 1}};
  if (cases.size() < 3) chosen.erase(chosen.begin() + 1);
  if (cases.size() < 2) chosen = {{"Only", 0}};
  std::string html;
  for (const auto& [name, index] : chosen) {
    std::string views;
    for (const ShownRun& run : runs) views += view(run, cases[index], has_names);
    // Six groups fill two rows of three.
    const std::size_t columns = runs.size() <= 4 ? runs.size() : 3;
    html += format(
        "<div>{}</div>\n",
        html_secondary(format("<h3>{} case: {}</h3>", name, xml_escaped(cases[index])),
                       format("<div class=\"views\" style=\"--columns:{}\">\n{}</div>\n", columns, views),
                       index == chosen.front().second));
  }
  return runs.size() == 1 ? "<div class=\"stills\">\n" + html + "</div>\n" : html;
}

}  // namespace

std::string cases_section(const ReportParts& parts) {
  auto [runs, left_out] = shown_runs(parts, "slices");
  for (ShownRun& shown : runs)
    std::erase_if(shown.cases,
                  [&](const auto& entry) { return !fs::exists(picture_of(*shown.run, entry.first)); });
  std::erase_if(runs, [](const ShownRun& shown) { return shown.cases.empty(); });
  if (runs.empty()) return {};
  const bool has_names = parts.groups.size() > 1;
  std::string html = three_cases(runs, has_names);
  if (html.empty()) {  // groups without common cases show their own
    for (const ShownRun& run : runs) html += three_cases({run}, has_names);
  }
  if (html.empty()) return html;
  if (!left_out.empty())
    html +=
        html_notes({format("Not shown here: {}. See the folder slices of each run.", join(left_out, "; "))});
  return html_section("cases", "Cases",
                      "<p>Worst, median and best case by mean Dice over the regions, in the slices with the "
                      "most ground truth "
                      "(counted from 1 as in the case's file). The patient's right is on the left; in "
                      "sagittal slices anterior "
                      "is on the left.</p>\n" +
                          html);
}

namespace {

// Warnings about the data of the runs. Runs on the same data set share warnings; each is listed once.
void add_warnings(const fs::path& file, std::set<std::vector<std::string>>& seen, Rows& rows) {
  error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return;  // written by an earlier version
  try {
    const Csv csv = read_csv(file);
    const std::string where = file.string();
    for (const auto& row : csv.rows) {
      std::vector<std::string> cells;
      for (const char* column : {"case", "problem", "what_to_do"})
        cells.push_back(row[csv.column(column, where)]);
      if (cells[0].empty()) cells[0] = "(all)";
      if (seen.insert(cells).second) rows.push_back(cells);
    }
  } catch (const Error& error) {
    rows.push_back({"(all)", error.what(), "nothing: the run is not affected"});
  }
}

}  // namespace

std::string data_section(const ReportParts& parts) {
  Rows rows(1, {"Case", "Warning", "What to do"});
  std::set<std::vector<std::string>> seen;
  for (const RunFolder& run : parts.runs) add_warnings(run.path / warnings_file, seen, rows);
  if (rows.size() == 1) return {};
  const std::string words =
      format("<p>{} about the data of these runs.</p>\n", counted(rows.size() - 1, "warning"));
  return html_secondary_section("warnings", "Data warnings", words + table_section(rows, warnings_file));
}

}  // namespace voxswap::pipeline
