// The section with the scores of regions: box plots and their numbers. A missed region has no distance: rules
// for empty regions give it a penalty, which would hide in a mean. Its HD95 is left out of the mean, and
// counted.
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

// HD95 of the predictions of a group, grid and region.
struct Distances {
  std::map<std::string, std::pair<double, int>> sums;  // by case, over the repeats
  std::size_t predictions = 0, missed = 0, spurious = 0;

  void add(const DiceRow& row) {
    ++predictions;
    const bool is_missed = row.truth_voxels > 0 && row.predicted_voxels == 0,
               is_spurious = row.truth_voxels == 0 && row.predicted_voxels > 0;
    missed += is_missed;
    spurious += is_spurious;
    if (is_missed || is_spurious || std::isnan(row.hd95)) return;
    auto& [sum, count] = sums[row.case_id];
    sum += row.hd95;
    ++count;
  }
  std::string mean() const {
    double total = 0;
    for (const auto& [id, sum] : sums) total += sum.first / sum.second;
    return sums.empty() ? "" : format("{:.2f}", total / static_cast<double>(sums.size()));
  }
  std::string of_all(std::size_t count) const {
    return count == 0 ? "" : format("{} of {}", count, predictions);
  }
};

using Subject = std::tuple<std::string, std::string, std::string, std::string>;

std::map<Subject, Distances> distances_of(const ReportParts& parts) {
  std::map<Subject, Distances> all;
  for (const DiceRow& row : parts.dice) {
    const RunGroup& group = parts.groups[group_of(parts.groups, row.run, row.resolution)];
    all[{group.resolution, group.setting, row.evaluated_at, row.region}].add(row);
  }
  return all;
}

std::string scores_table(const ReportParts& parts) {
  const GroupLabels names(parts.groups);
  Rows rows(1, {names.heading, "Scoring grid", "Region", "Mean Dice", "Median", "SD", "Lowest", "Cases",
                "Mean HD95, mm", "Missed", "Spurious"});
  const std::map<Subject, Distances> distances = distances_of(parts);
  bool counts = false;
  for (const BoxRow& box : parts.boxes) {
    if (box.metric != "dice") continue;
    const metrics::BoxStatistics& of = box.statistics;
    const Distances& found = distances.at({box.resolution, box.setting, box.evaluated_at, box.region});
    counts = counts || found.missed + found.spurious > 0;
    rows.push_back({names.name(box.resolution, box.setting), box.evaluated_at, with_spaces(box.region),
                    decimals(of.mean), decimals(of.median), decimals(of.sd), decimals(of.minimum),
                    std::to_string(of.n), found.mean(), found.of_all(found.missed),
                    found.of_all(found.spurious)});
  }
  if (parts.groups.size() == 1) take_out_common(rows, names.heading);
  take_out_common(rows, "Scoring grid");
  std::string html =
      table_section(without_empty_columns(rows), "boxplot.csv", csv_of(parts.boxes)) +
      "<p>A case predicted by several repeats counts once: with the mean of their scores, or with the score "
      "of their averaged prediction if they form an ensemble.</p>\n";
  if (counts)
    html +=
        "<p>Missed: predictions without a region that the ground truth has; spurious: the reverse. Neither "
        "has a distance, so the mean HD95 excludes them. boxplot.csv includes their penalty.</p>\n";
  return html;
}

}  // namespace

std::string dice_section(const ReportParts& parts) {
  if (parts.dice.empty() && !parts.classes.empty()) return {};
  if (parts.dice.empty())
    return html_section("dice", "Dice",
                        "<p>These runs were only trained: there are no predictions and scores.</p>\n");
  const std::string plot =
      picture_section(parts, "boxplot", "Dice per region. Click a dot to open its case in the viewer.");
  return html_section("dice", "Dice", html_beside(plot, scores_table(parts)));
}

}  // namespace voxswap::pipeline
