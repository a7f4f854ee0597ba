// The sections on scores: the answer, the ranking, scores of regions, comparisons of groups, and image
// classification.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/keys.h"
#include "base/xml.h"
#include "pipeline/report/finding.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

std::string signed_decimals(double value) {
  return std::isnan(value) ? "-" : format("{:+.3f}", value);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  return p < 1e-4 ? "< 0.0001" : format("{:.4f}", p);
}

std::string interval_text(const metrics::Interval& interval) {
  if (std::isnan(interval.low)) return "-";  // of a single case
  return format("{} to {}", signed_decimals(interval.low), signed_decimals(interval.high));
}

std::string dice_words(const Ranking& ranking, const RankedGroup& group) {
  const std::size_t regions = ranking.regions.size();
  return format("mean Dice {} over {}{}, on {}", decimals(group.dice),
                regions == 1 ? "" : format("{} and ", counted(regions, "region")),
                counted(group.cases, "case"), grid_words(ranking.grid));
}

const RunGroup& ranked_group(const ReportParts& parts, const RankedGroup& ranked) {
  const std::size_t groups = parts.groups.size();
  return ranked.group < groups ? parts.groups[ranked.group] : parts.ensembles.groups[ranked.group - groups];
}

// An ensemble that is hardly better than the best group comes after it.
bool is_surely_worse(const RankedGroup& group, const Ranking& ranking) {
  return group.difference > 0 && is_significant(group, ranking.tests);
}

// "Best: A, mean Dice 0.871 …. Lead over B: 0.012 (…), …."
std::string answer_words(const ReportParts& parts) {
  const std::vector<RankedGroup>& ranked = parts.ranking.groups;
  const auto name = [&](std::size_t i) { return ranked_group(parts, ranked[i]).name; };
  if (ranked.size() == 1) {
    std::string words = dice_words(parts.ranking, ranked[0]);
    words[0] = 'M';
    return words + ".";
  }
  const RankedGroup& next = ranked[1];
  const std::string lead = format("Best: {}, {}.", name(0), dice_words(parts.ranking, ranked[0]));
  if (next.differences.empty()) return format("{} Next: {}, scored on other cases.", lead, name(1));
  const std::string interval =
      std::isnan(next.interval.low) ? "" : format(" (95 % interval {})", interval_text(next.interval));
  return format("{} Lead over {}: {:.3f}{}, {}significant, n = {}.", lead, name(1), next.difference, interval,
                is_surely_worse(next, parts.ranking) ? "" : "not ", next.differences.size());
}

// Quotes text for a shell command line.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Empty if a folder is only a report on runs elsewhere. The repeats of a single run are averaged only with
// --ensemble.
std::string predict_command(const std::vector<const RunFolder*>& runs) {
  std::string command = "voxswap predict";
  for (const RunFolder* run : runs) {
    if (run->experiment.empty()) return {};
    command += " " + shell_word(run->path.string());
  }
  const std::string repeats = runs.front()->setting(key::training_repeats);
  if (runs.size() == 1 && !repeats.empty() && repeats != "1") command += " --ensemble";
  return command + " --input IMAGES --out LABEL_MAPS";
}

std::string ranking_table(const ReportParts& parts) {
  const std::vector<RankedGroup>& ranked = parts.ranking.groups;
  Rows rows(
      1, {"Group", "Mean Dice", "Gap to best", "95 % interval", "p, corrected", "Against the best", "Cases"});
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const RankedGroup& group = ranked[i];
    const bool compared = i > 0 && !group.differences.empty();
    rows.push_back({ranked_group(parts, group).name, decimals(group.dice),
                    compared ? format("{:.3f}", group.difference) : "",
                    compared ? interval_text(group.interval) : "", compared ? p_text(group.p_holm) : "",
                    i == 0                                  ? "reference"
                    : !compared                             ? "no common cases"
                    : is_surely_worse(group, parts.ranking) ? "significantly worse"
                                                            : "not significant",
                    compared ? std::to_string(group.differences.size()) : ""});
  }
  return table_section(rows, "ranking.csv");
}

// A note on cases that only some groups have.
std::string unshared_note(const std::vector<ComparisonRow>& rows) {
  std::size_t most = 0;
  for (const ComparisonRow& row : rows)
    if (row.metric == "dice") most = std::max(most, row.unpaired);
  if (most == 0) return {};
  return html_notes({format(
      "Comparisons exclude up to {} with a score in only one group (column unpaired of comparison.csv).",
      counted(most, "case"))});
}

// "preprocess.resolution+memory.planner" -> "resolution and planner"
std::string compared_words(const std::string& keys) {
  std::vector<std::string> words;
  for (const std::string& key : split(keys, '+')) {
    const std::string heading = heading_of(key);
    words.push_back(lower(heading.substr(0, heading.find(','))));
  }
  return join(words, " and ");
}

}  // namespace

BestModel best_model(const ReportParts& parts) {
  const std::vector<RankedGroup>& ranked = parts.ranking.groups;
  BestModel best;
  if (ranked.empty()) return best;
  const RankedGroup& first = ranked[0];
  best.name = ranked_group(parts, first).name;
  best.ensemble = first.group >= parts.groups.size();
  best.dice = first.dice;
  best.cases = first.cases;
  best.finding = finding(parts.groups, parts.comparisons, parts.timing, parts.ranking.grid);
  best.words = answer_words(parts);
  if (ranked.size() > 1) {
    best.next = ranked_group(parts, ranked[1]).name;
    best.lead = ranked[1].difference;
    best.lead_low = ranked[1].interval.low;
    best.lead_high = ranked[1].interval.high;
  }
  std::vector<std::size_t> members = {first.group};
  if (best.ensemble) {
    const auto [a, b] = parts.ensembles.members[first.group - parts.groups.size()];
    members = {a, b};
  }
  std::vector<const RunFolder*> runs;
  for (const std::size_t group : members) append(runs, scored_runs(parts.runs, parts.groups, group));
  for (const RunFolder* run : runs) best.runs.push_back(run->path.string());
  best.command = predict_command(runs);
  return best;
}

std::string answer_section(const ReportParts& parts) {
  const BestModel best = best_model(parts);
  if (best.name.empty()) return {};
  std::string html;
  for (const std::string& words : {best.finding, best.words})
    if (!words.empty()) html += format("<p class=\"answer\">{}</p>\n", xml_escaped(words));
  if (!best.next.empty() && !best.command.empty())
    html += format("<p>Predict with it: <code>{}</code></p>\n", xml_escaped(best.command));
  return html + html_beside(picture_section(parts, "dice", ""), picture_section(parts, "pareto", ""));
}

std::string ranking_section(const ReportParts& parts) {
  const std::vector<RankedGroup>& ranked = parts.ranking.groups;
  if (parts.ranking.has_other_truths)
    return html_notes(
        {"No ranking: the resolutions were scored on their training grids only, where their ground truths "
         "differ. Score them on the cases' own grids"});
  if (ranked.size() < 2) return {};
  std::string html =
      ranking_table(parts) +
      "<p>The score of a case is its mean over the regions. Differences are between the same cases, with "
      "bootstrap intervals. p: Wilcoxon signed-rank test against the best group, Holm-corrected for "
      "all pairs of groups, since the best one was selected on these cases. Only groups with several repeats "
      "include the variation between trainings.</p>\n";
  if (parts.ranking.unshared_cases > 0)
    html += html_notes({format("Not ranked: {} without a score in every group.",
                               counted(parts.ranking.unshared_cases, "case"))});
  if (parts.ranking.has_absent_regions)
    html +=
        "<p>A region that a case lacks counts with 1 for every repeat that predicts none, if another one or "
        "another group predicts it. Tables below leave it out.</p>\n";
  const auto ensembles = parts.ensembles.groups.size();
  if (ensembles > 0)
    html +=
        "<p>An ensemble averages the probabilities of two groups. It takes twice as long to predict, so it "
        "is ranked first only if its Dice is higher by 0.0005 or more.</p>\n";
  if (const std::size_t without = parts.groups.size() + ensembles - ranked.size(); without > 0)
    html += html_notes({format("{} not ranked, because no score is available.",
                               without == 1 ? "One group is" : format("{} are", counted(without, "group")))});
  return html;
}

namespace {

// HD95 of the predictions of a group, grid and region. A missed region has no distance: rules for empty
// regions give it a penalty, which would hide in a mean. Its case is left out of the mean, and it is counted.
struct Distances {
  std::map<std::string, std::vector<double>> distances;  // by case, of the repeats
  std::size_t predictions = 0, missed = 0, spurious = 0;

  void add(const DiceRow& row) {
    ++predictions;
    const bool is_missed = row.truth_voxels > 0 && row.predicted_voxels == 0,
               is_spurious = row.truth_voxels == 0 && row.predicted_voxels > 0;
    missed += is_missed;
    spurious += is_spurious;
    distances[row.case_id].push_back(is_missed || is_spurious ? std::nan("") : row.hd95);
  }
  std::string mean() const {
    const double mean = mean_of(distances, [](const auto& one) { return metrics::mean(one.second); });
    return std::isnan(mean) ? "" : format("{:.2f}", mean);
  }
  std::string of_all(std::size_t count) const {
    return count == 0 ? "" : format("{} of {}", count, predictions);
  }
};

using DistancesOf = std::map<std::tuple<std::size_t, std::string, std::string>, Distances>;

// By group, grid and region.
DistancesOf distances_of(const ReportParts& parts) {
  DistancesOf all;
  for (const DiceRow& row : parts.dice)
    all[{group_of(parts.groups, row.run, row.resolution), row.evaluated_at, row.region}].add(row);
  return all;
}

std::string scores_table(const ReportParts& parts) {
  const GroupLabels names(parts.groups);
  Rows rows(1, {names.heading, "Scoring grid", "Region", "Mean Dice", "Median", "SD", "Lowest", "Cases",
                "Mean HD95, mm", "Missed", "Spurious"});
  const DistancesOf distances = distances_of(parts);
  bool counts = false;
  for (const BoxRow& box : parts.boxes) {
    if (box.metric != "dice") continue;
    const metrics::BoxStatistics& of = box.statistics;
    const Distances& found =
        distances.at({group_with(parts.groups, box.resolution, box.setting), box.evaluated_at, box.region});
    counts = counts || found.missed + found.spurious > 0;
    rows.push_back({names.name(box.resolution, box.setting), box.evaluated_at, with_spaces(box.region),
                    decimals(of.mean), decimals(of.median), decimals(of.sd), decimals(of.minimum),
                    std::to_string(of.n), found.mean(), found.of_all(found.missed),
                    found.of_all(found.spurious)});
  }
  if (parts.groups.size() == 1) take_out_common(rows, names.heading);
  take_out_common(rows, "Scoring grid");
  std::string html = table_section(without_empty_columns(rows), "boxplot.csv", csv_of(parts.boxes)) +
                     "<p>A case predicted by several repeats counts once: with the mean of their scores, if "
                     "all have one, or with the score of their averaged prediction if they form an "
                     "ensemble.</p>\n";
  if (!parts.epochs.empty())
    html +=
        "<p>The networks have the weights of the epoch with the lowest validation loss on these cases, so "
        "scores are slightly optimistic.</p>\n";
  if (counts)
    html +=
        "<p>Missed: predictions without a region that the ground truth has; spurious: the reverse. Neither "
        "has a distance, so the mean HD95 excludes these cases. boxplot.csv includes their penalty.</p>\n";
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

std::string comparison_section(const ReportParts& parts) {
  Rows rows(1, {"Groups differ in", "Group A", "Group B", "Scoring grid", "Region", "Difference",
                "95 % interval", "p, corrected", "Dice A", "Dice B", "Cases"});
  const GroupLabels names(parts.groups);
  std::set<std::string> also;
  for (const ComparisonRow& row : parts.comparisons) {
    if (row.metric != "dice") continue;
    if (!row.also_differs.empty()) also.insert(compared_words(row.also_differs));
    rows.push_back({compared_words(row.compared), names.name(row.resolution_a, row.setting_a),
                    names.name(row.resolution_b, row.setting_b), row.evaluated_at, with_spaces(row.region),
                    signed_decimals(row.difference), interval_text(row.interval), p_text(row.p_holm),
                    decimals(row.mean_a), decimals(row.mean_b), std::to_string(row.differences.size())});
  }
  if (rows.size() == 1) return {};
  const std::string what = take_out_common(rows, "Groups differ in");  // the value is the same in all rows
  take_out_common(rows, "Scoring grid");
  std::string html;
  if (!what.empty()) html += format("<p>Groups differ in {}.</p>\n", xml_escaped(what));
  html +=
      table_section(rows, "comparison.csv", csv_of(parts.comparisons)) +
      "<p>Difference: Dice B minus Dice A, paired by case, on the same grid. Intervals are "
      "bootstrap intervals of the mean difference (BCa, 9999 resamples). p: two-sided Wilcoxon signed-rank "
      "test, Holm-corrected for the regions of a comparison; exact up to 50 differences, "
      "otherwise the normal approximation; - where no case differs. comparison.csv has the other "
      "metrics.</p>\n";
  if (!also.empty())
    html += html_notes(
        {format("Some of these groups also differ in {}.", join({also.begin(), also.end()}, "; "))});
  return html_section("differences", "Differences", html + unshared_note(parts.comparisons));
}

namespace {

// Wilson's 95 % interval of a proportion.
std::string interval_of(std::int64_t right, std::int64_t all) {
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(all), p = static_cast<double>(right) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return format("{:.3f} to {:.3f}", middle - half, middle + half);
}

double accuracy_of_last_epoch(const std::vector<AccuracyRow>& rows, const Confusion& one) {
  double accuracy = std::nan("");
  for (const AccuracyRow& row : rows)
    if (is_same_training(row, one)) accuracy = row.accuracy;
  return accuracy;
}

std::string matrix_of(const Confusion& one, bool several) {
  Rows rows(1, {"Ground truth"});
  for (const std::string& name : one.classes) rows.front().push_back("Predicted " + name);
  rows.front().push_back("Recall");
  for (std::size_t t = 0; t < one.classes.size(); ++t) {
    std::vector<std::string>& row = rows.emplace_back(1, one.classes[t]);
    std::int64_t all = 0;
    for (const std::int64_t count : one.counts[t]) {
      row.push_back(std::to_string(count));
      all += count;
    }
    row.push_back(all == 0 ? "no images"
                           : decimals(static_cast<double>(one.counts[t][t]) / static_cast<double>(all)));
  }
  const std::string heading =
      several ? format("<h3>{}, {}, repeat {}</h3>\n", xml_escaped(one.run), one.resolution, one.repeat) : "";
  return heading + table_section(rows, "confusion.csv", csv_of(confusion_rows({one})));
}

}  // namespace

std::string classes_section(const ReportParts& parts) {
  if (parts.classes.empty()) return {};
  const std::vector<Confusion> all = confusions(parts.classes);
  Rows rows(1, {"Run", "Resolution", "Repeat", "Accuracy", "95 % interval", "Correct", "Images",
                "Accuracy, last epoch"});
  for (const Confusion& one : all)
    rows.push_back({one.run, one.resolution, std::to_string(one.repeat), decimals(one.accuracy()),
                    interval_of(one.right(), one.all()), std::to_string(one.right()),
                    std::to_string(one.all()), decimals(accuracy_of_last_epoch(parts.accuracy, one))});
  std::string html =
      table_section(rows, "accuracies.csv") +
      "<p>Validation images, predicted with the weights of the epoch with the lowest validation loss. Wilson "
      "intervals.</p>\n";
  for (const Confusion& one : all) html += matrix_of(one, all.size() > 1);
  return html_section("classes", "Classes", html);
}

}  // namespace voxswap::pipeline
