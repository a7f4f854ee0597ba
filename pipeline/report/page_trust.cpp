// The sections that say how far scores can be trusted: folds, post-processing and calibration.
#include <algorithm>

#include "base/json.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

// Adds the steps in postprocessing.json of a run or sweep, or a row that says that there are none. A damaged
// or hand-written file gets a row that says so.
void add_postprocessing(const std::string& name, const fs::path& file, Rows& rows) {
  if (!fs::exists(file)) return;
  const Json json = parse_json(read_file(file));
  try {
    const std::string cases = std::to_string(json.at("found_on_cases").get<std::size_t>());
    for (const Json& step : json.at("steps"))
      rows.push_back({name, with_spaces(step.at("region").get<std::string>()),
                      with_spaces(step.at("remove").get<std::string>()),
                      step.contains("below_mm3") ? number(step.at("below_mm3").get<double>()) : "",
                      format("{:.4f}", step.at("gain").get<double>()), cases,
                      step.contains("labelled_cases")
                          ? std::to_string(step.at("labelled_cases").get<std::size_t>())
                          : ""});
    bool searched = false;
    const Json regions = json.value("mean_dice", Json::object());
    for (const auto& [region, dice] : regions.items()) {
      const std::size_t least =
          json.value("fewest_cases", std::size_t{0});  // missing in files of earlier versions
      const std::size_t holding = dice.value("cases", least);
      searched = searched || holding >= least;
      if (holding < least)
        rows.push_back({name, with_spaces(region),
                        format("not searched: fewer than {} contain it", counted(least, "case")), "", "",
                        std::to_string(holding), ""});
    }
    if (json.at("steps").empty() && searched)
      rows.push_back({name, "", "no step improves the Dice", "", "", cases, ""});
  } catch (const Json::exception&) {
    rows.push_back({name, "", "unreadable", "", "", "", ""});
  }
}

}  // namespace

std::string folds_section(const ReportParts& parts) {
  if (parts.folds.rows.empty()) return {};
  const GroupLabels names(parts.groups);
  Rows rows(1, {names.heading, "Scoring grid", "Region", "Fold", "Mean Dice", "SD", "Cases"});
  for (const FoldRow& row : parts.folds.rows)
    if (row.metric == "dice")
      rows.push_back({names.name(row.resolution, row.setting), row.evaluated_at, with_spaces(row.region),
                      row.fold, decimals(row.mean), decimals(row.sd), std::to_string(row.cases)});
  if (parts.groups.size() == 1) take_out_common(rows, names.heading);
  take_out_common(rows, "Scoring grid");
  const std::string html = table_section(rows, "folds.csv", csv_of(parts.folds.rows)) +
                           "<p>Fold \"all\": each case once, scored by the fold that held it out.</p>\n";
  return html_secondary_section("folds", "Folds", html + html_notes(parts.folds.notes));
}

std::string postprocessing_section(const ReportParts& parts) {
  Rows rows(1, {"Run", "Region", "Removed", "Below, mm³", "Gain in mean Dice", "Cases", "Labelled cases"});
  for (const RunFolder& run : parts.runs) add_postprocessing(run.name, run.path / postprocessing_file, rows);
  if (!parts.in_place) add_postprocessing("all runs together", parts.out / postprocessing_file, rows);
  if (rows.size() == 1) return {};
  const bool any_labelled =
      std::any_of(rows.begin() + 1, rows.end(), [](const auto& row) { return !row.back().empty(); });
  return html_secondary_section(
      "postprocessing", "Post-processing",
      table_section(without_empty_columns(rows), "postprocessing.csv") +
          "<p>Steps whose gain in the validation scores is significant: its 95 % interval is above 0. " +
          (any_labelled ? "Steps with a number of labelled cases were taken for another reason: the region "
                          "has a larger volume in the ground truth of all these cases, and no validation "
                          "score decreases. "
                        : "") +
          "The scores above do not include the steps. They were selected on the same cases, so the gain is "
          "slightly optimistic. <code>voxswap predict</code> applies them; to switch one off, delete it from "
          "postprocessing.json.</p>\n");
}

std::string calibration_section(const ReportParts& parts) {
  if (parts.calibration.empty()) return {};
  const GroupLabels names(parts.groups);
  Rows rows(
      1, {names.heading, "Output", "Expected calibration error", "Brier score", "Log loss", "Predictions"});
  using Key = std::pair<std::size_t, std::string>;  // group, output
  const auto key_of = [&](const CalibrationRow& row) {
    return Key(group_of(parts.groups, row.run, row.resolution), row.output);
  };
  for (const Key& key : distinct(parts.calibration, key_of)) {
    std::vector<const CalibrationRow*> of;
    for (const CalibrationRow& row : parts.calibration)
      if (key_of(row) == key) of.push_back(&row);
    const auto mean = [&](double CalibrationRow::*score) {
      double sum = 0;
      for (const CalibrationRow* row : of) sum += row->*score;
      return format("{:.4f}", sum / static_cast<double>(of.size()));
    };
    rows.push_back({names.names[key.first], with_spaces(key.second), mean(&CalibrationRow::expected_error),
                    mean(&CalibrationRow::brier), mean(&CalibrationRow::log_loss),
                    std::to_string(of.size())});
  }
  if (parts.groups.size() == 1) take_out_common(rows, names.heading);
  const std::string diagrams =
      picture_section(parts, "reliability", "Observed frequency against predicted probability.");
  const std::string table =
      table_section(rows, "calibration.csv", csv_of(parts.calibration)) +
      "<p>How well predicted probabilities match observed frequencies, over all voxels of the training grid; "
      "means over the validation cases.</p>\n";
  return html_secondary_section("calibration", "Calibration", html_beside(diagrams, table));
}

}  // namespace voxswap::pipeline
