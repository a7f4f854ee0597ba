// The section of cases: the worst, the median and the best one of every group of runs.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xml.h"
#include "data/volumes/picture.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t most_views = 6;  // of one case

struct CaseScore {
  double sum = 0;
  int n = 0;
  std::vector<std::pair<std::string, double>> dice;  // by region
  double mean() const { return n > 0 ? sum / n : std::nan(""); }
};

// A group's run with pictures, and what the pictured predictions scored: those of its first repeat, on its
// first grid.
struct Gallery {
  const RunFolder* run = nullptr;
  std::string label, grid;
  std::map<std::string, CaseScore> cases;  // those with a picture
};

fs::path picture_of(const RunFolder& run, const std::string& case_id) {
  return run.path / "slices" / (case_id + ".png");
}

Gallery gallery_of(const RunFolder& run, const std::string& label) {
  Gallery gallery{&run, label, run.dice.front().evaluated_at, {}};
  for (const DiceRow& row : run.dice) {
    if (row.repeat != run.dice.front().repeat || row.evaluated_at != gallery.grid) continue;
    const bool known = gallery.cases.contains(row.case_id);
    if (!known && !fs::exists(picture_of(run, row.case_id))) continue;
    CaseScore& score = gallery.cases[row.case_id];
    score.dice.emplace_back(row.region, row.dice);
    if (std::isnan(row.dice)) continue;
    score.sum += row.dice;
    ++score.n;
  }
  return gallery;
}

struct Galleries {
  std::vector<Gallery> shown;
  std::vector<std::string> left_out;  // groups
};

// One run of every group that has pictures; of many groups the best ones and the worst.
Galleries galleries(const ReportParts& parts) {
  std::map<std::size_t, Gallery> by_group;
  for (const RunFolder& run : parts.runs) {
    if (run.dice.empty()) continue;
    const std::size_t group = group_of(parts.groups, run.dice.front().run, run.dice.front().resolution);
    if (by_group.contains(group)) continue;
    Gallery gallery = gallery_of(run, parts.groups.size() > 1 ? parts.groups[group].name : "");
    if (!gallery.cases.empty()) by_group.emplace(group, std::move(gallery));
  }
  Galleries result;
  for (const std::size_t group : groups_from_best(parts)) {
    if (const auto found = by_group.find(group); found != by_group.end())
      result.shown.push_back(std::move(found->second));
    else if (!by_group.empty())
      result.left_out.push_back(parts.groups[group].name + " (no pictures)");
  }
  for (; result.shown.size() > most_views; result.shown.erase(result.shown.end() - 2))
    result.left_out.push_back(result.shown[result.shown.size() - 2].label);
  return result;
}

// Cases that every gallery has, from the worst to the best mean.
std::vector<std::string> ranked(const std::vector<Gallery>& views) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [id, score] : views.front().cases) {
    double sum = 0;
    for (const Gallery& gallery : views) {
      const auto found = gallery.cases.find(id);
      sum += found == gallery.cases.end() ? std::nan("") : found->second.mean();
    }
    if (!std::isnan(sum)) order.emplace_back(sum, id);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> cases;
  for (const auto& [sum, id] : order) cases.push_back(id);
  return cases;
}

// "whole_tumor 0.871", behind its colour where the picture has it.
std::string scores_of(const CaseScore& score, const std::vector<std::string>& regions, bool has_colors) {
  std::string html;
  for (const auto& [region, dice] : score.dice) {
    const auto place = std::find(regions.begin(), regions.end(), region) - regions.begin();
    html += format("<span class=\"score\">{}{} {}</span>\n",
                   has_colors ? format("<span class=\"swatch\" style=\"background:{}\"></span> ",
                                       plot_color(static_cast<std::size_t>(place)))
                              : "",
                   xml_escaped(region), decimals(dice));
  }
  return html;
}

std::string view(const Gallery& gallery, const std::string& case_id) {
  const std::string png = read_file(picture_of(*gallery.run, case_id));
  const bool has_colors = !data::png_text(png, "Comment").empty();
  const std::string name = gallery.label.empty() ? "" : format("<b>{}</b>\n", xml_escaped(gallery.label));
  return format(
      "<figure><img alt=\"{}\" "
      "src=\"data:image/png;base64,{}\"/><figcaption>{}{}<br/>{}</figcaption></figure>\n",
      xml_escaped(case_id), base64(png), name,
      scores_of(gallery.cases.at(case_id), region_names(gallery.run->dice), has_colors),
      xml_escaped(data::png_text(png, "Description")));
}

std::string three_cases(const std::vector<Gallery>& views) {
  const std::vector<std::string> cases = ranked(views);
  if (cases.empty()) return {};
  std::vector<std::pair<std::string, std::size_t>> chosen = {
      {"Worst", 0}, {"Median", (cases.size() - 1) / 2}, {"Best", cases.size() - 1}};
  if (cases.size() < 3) chosen.erase(chosen.begin() + 1);
  if (cases.size() < 2) chosen = {{"The only", 0}};
  std::string html;
  for (const auto& [name, index] : chosen) {
    html += format("<div><h3>{} case: {}</h3>\n<div class=\"views\">\n", name, xml_escaped(cases[index]));
    for (const Gallery& gallery : views) html += view(gallery, cases[index]);
    html += "</div></div>\n";
  }
  return views.size() == 1 ? "<div class=\"stills\">\n" + html + "</div>\n" : html;
}

}  // namespace

std::string cases_section(const ReportParts& parts) {
  const auto [views, left_out] = galleries(parts);
  if (views.empty()) return {};
  std::string html = three_cases(views);
  if (html.empty()) {  // without a case in common each shows its own
    for (const Gallery& gallery : views) html += three_cases({gallery});
  }
  if (html.empty()) return html;
  if (!left_out.empty())
    html += format("<p class=\"note\">Not shown here: {}. See the folder slices of each run.</p>\n",
                   xml_escaped(join(left_out, "; ")));
  return html_section("cases", "Cases",
                      "<p>Worst, median and best case by mean Dice over the regions, in the slices with the "
                      "most ground truth "
                      "(counted from 1 as in the case's file). The patient's right is on the left; in "
                      "sagittal slices anterior "
                      "is on the left.</p>\n" +
                          html);
}

// The section of data warnings: what `voxswap check` reports for the cases of the runs.

namespace {

// Runs on one data set have the same warnings; each is told once.
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
    rows.push_back({"(all)", error.what(), "none: the run itself is not affected"});
  }
}

}  // namespace

std::string data_section(const ReportParts& parts) {
  Rows rows(1, {"Case", "Warning", "What to do"});
  std::set<std::vector<std::string>> seen;
  for (const RunFolder& run : parts.runs) add_warnings(run.path / warnings_file, seen, rows);
  if (rows.size() == 1) return {};
  const std::string words =
      format("<p><code>voxswap check</code> gives {} for the cases of these runs.</p>\n",
             counted(rows.size() - 1, "warning"));
  Csv csv{rows.front(), {rows.begin() + 1, rows.end()}};
  return html_section("warnings", "Data warnings", words + table_section(rows, warnings_file, csv));
}

}  // namespace voxswap::pipeline
