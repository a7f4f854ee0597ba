// Dice on the page: boxes and their numbers, and groups of runs against each other.
#include <cmath>
#include <set>

#include "base/text.h"
#include "pipeline/html.h"
#include "pipeline/page_parts.h"

namespace voxswap {

namespace {

std::string signed_decimals(double value) {
  return std::isnan(value) ? "nan" : format("{:+.3f}", value);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "nan";
  return p < 1e-4 ? "< 0.0001" : format("{:.4f}", p);
}

// Cases of some groups only.
std::string unshared_note(const std::vector<ComparisonRow>& rows) {
  std::size_t most = 0;
  for (const ComparisonRow& row : rows) {
    if (row.metric == "dice") most = std::max(most, row.unpaired);
  }
  if (most == 0) return {};
  return format(
      "<p class=\"note\">Not every case has a score on both sides: up to {} were left out of a comparison "
      "(column unpaired of comparison.csv).</p>\n",
      most);
}

}  // namespace

std::string dice_section(const ReportParts& parts) {
  if (parts.dice.empty())
    return "<h2>Dice</h2>\n<p>These runs only trained: nothing was predicted and scored.</p>\n";
  Rows rows(1, {"resolution", "setting", "evaluated at", "region", "mean Dice", "median", "sd", "lowest", "n",
                "mean HD95, mm"});
  for (const BoxRow& box : parts.boxes) {
    const BoxStatistics& of = box.statistics;
    if (box.metric == "hd95" && of.n > 0) rows.back().back() = format("{:.2f}", of.mean);
    if (box.metric != "dice") continue;
    rows.push_back({box.resolution, box.setting, box.evaluated_at, box.region, decimals(of.mean),
                    decimals(of.median), decimals(of.sd), decimals(of.minimum), std::to_string(of.n), ""});
  }
  return "<h2>Dice</h2>\n" +
         picture_section(parts, "boxplot",
                         "Dice per region. The numbers behind the boxes are in boxplot.csv.") +
         table_section(without_empty_columns(rows), "boxplot.csv", boxplot_csv(parts.boxes)) +
         "<p>n counts cases; a case that several repeats predicted counts once, with its mean.</p>\n";
}

std::string comparison_section(const ReportParts& parts) {
  Rows rows(1, {"compared", "from", "to", "evaluated at", "region", "from Dice", "to Dice", "difference",
                "95 % interval", "n", "p", "p, corrected"});
  std::set<std::string> compared, also;
  for (const ComparisonRow& row : parts.comparisons) {
    if (row.metric != "dice") continue;
    compared.insert(row.compared);
    if (!row.also_differs.empty()) also.insert(row.also_differs);
    rows.push_back({row.compared, group_label(row.resolution_a, row.setting_a),
                    group_label(row.resolution_b, row.setting_b), row.evaluated_at, row.region,
                    decimals(row.mean_a), decimals(row.mean_b), signed_decimals(row.difference),
                    format("{} to {}", signed_decimals(row.interval.low), signed_decimals(row.interval.high)),
                    std::to_string(row.differences.size()), p_text(row.test.p), p_text(row.p_holm)});
  }
  if (rows.size() == 1) return {};
  std::string what;
  if (compared.size() == 1) {  // a column of its own would only repeat it
    for (auto& row : rows) row.erase(row.begin());
    what = format("<p>Compared: {}.</p>\n", html_escape(*compared.begin()));
  }
  std::string html = "<h2>Differences</h2>\n" + what +
                     table_section(rows, "comparison.csv", comparison_csv(parts.comparisons));
  html +=
      "<p>Dice of the same cases on the same grid, paired. The interval is of the mean difference "
      "(bootstrap, "
      "BCa, 9999 resamples). p: Wilcoxon's signed-rank test, two-sided; exact up to 50 differences without "
      "zeros and ties, else the normal approximation; nan where no case differs. Corrected after Holm for "
      "the "
      "regions of a comparison. Other metrics are in comparison.csv.</p>\n";
  if (!also.empty()) {
    html += format("<p class=\"note\">Some of what is compared also differs in {}.</p>\n",
                   html_escape(join({also.begin(), also.end()}, "; ")));
  }
  return html + unshared_note(parts.comparisons);
}

}  // namespace voxswap
