#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

// Longer tables are collapsed, on narrow screens from this number of cards.
constexpr std::size_t most_rows = 36, most_cards = 4;

}  // namespace

std::vector<ReportTable> report_tables(const ReportParts& parts) {
  std::vector<ReportTable> tables;
  const auto add = [&](const char* file, const auto& rows, bool merged) {
    const bool always = file == std::string("epochs.csv") || file == std::string("timing.csv");
    if (!rows.empty() || always) tables.push_back({file, csv_of(rows), merged});
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

std::string signed_decimals(double value) {
  return std::isnan(value) ? "-" : format("{:+.3f}", value);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  return p < 1e-4 ? "< 0.0001" : format("{:.4f}", p);
}

std::vector<std::size_t> groups_from_best(const ReportParts& parts) {
  std::vector<std::size_t> order;
  for (const RankedGroup& ranked : parts.ranking.groups)
    if (ranked.group < parts.groups.size()) order.push_back(ranked.group);
  for (std::size_t i = 0; i < parts.groups.size(); ++i) {
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  }
  return order;
}

std::vector<std::string> region_names(const std::vector<DiceRow>& rows) {
  std::vector<std::string> names;
  for (const DiceRow& row : rows)
    if (std::find(names.begin(), names.end(), row.region) == names.end()) names.push_back(row.region);
  return names;
}

std::string grid_words(const std::string& evaluated_at) {
  if (evaluated_at == "native") return "the cases' own grids";
  return evaluated_at == "training" ? "the training grid" : "a grid of " + evaluated_at;
}

ShownRuns shown_runs(const ReportParts& parts, const char* file, std::size_t most) {
  ShownRuns result;
  for (const std::size_t group : groups_from_best(parts)) {
    const auto run = std::find_if(parts.runs.begin(), parts.runs.end(), [&](const RunFolder& one) {
      const std::vector<RunInTable> members = one.in_tables();
      return fs::exists(one.path / file) &&
             group_of(parts.groups, members[0].run, members[0].resolution) == group;
    });
    if (run == parts.runs.end()) {
      result.left_out.push_back(parts.groups[group].name + " (no pictures)");
      continue;
    }
    ShownRun& shown = result.runs.emplace_back();
    shown.run = &*run;
    shown.group = parts.groups[group].name;
    for (const DiceRow& row : run->dice)
      if (row.repeat == run->dice.front().repeat && row.evaluated_at == run->dice.front().evaluated_at)
        shown.cases[row.case_id].push_back(&row);
  }
  for (; result.runs.size() > most; result.runs.erase(result.runs.end() - 2))
    result.left_out.push_back(result.runs[result.runs.size() - 2].group);
  return result;
}

double mean_dice(const std::vector<const DiceRow*>& rows) {
  double sum = 0, count = 0;
  for (const DiceRow* row : rows)
    if (!std::isnan(row->dice)) sum += row->dice, ++count;
  return count > 0 ? sum / count : std::nan("");
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
  const std::size_t count = rows.size() - 1;
  if (count <= most_cards) return html_table(rows) + link;
  const std::string words = counted(count, "row");
  if (count <= most_rows)
    return html_secondary(format("<span class=\"rows\">{}</span>", words), html_table(rows) + link);
  return format("<details><summary>{}</summary>\n{}</details>\n", words, html_table(rows) + link);
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

}  // namespace voxswap::pipeline
