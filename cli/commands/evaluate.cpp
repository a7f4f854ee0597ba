// voxswap evaluate: any label maps against the truth, not only ours.
#include "pipeline/evaluate.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "cli/options.h"

namespace voxswap {

namespace {

int parse_label(const std::string& text, const std::string& whole) {
  const std::string digits = trim(text);
  int value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || rest != end || value < 1 || value > 32767)
    fail(Exit::usage,
         "--regions: '{}' is no label value, in '{}'; expected e.g. whole_tumor=1,2,4;tumor_core=1,4", text,
         whole);
  return value;
}

// "whole_tumor=1,2,4;tumor_core=1,4"
Regions parse_regions(const std::string& text) {
  Regions regions;
  if (text.empty()) return regions;
  for (const std::string& part : split(text, ';')) {
    const std::size_t equals = part.find('=');
    const std::string name = trim(part.substr(0, equals));
    if (equals == part.npos || name.empty())
      fail(Exit::usage, "--regions: expected name=values, found '{}'; e.g. whole_tumor=1,2,4;tumor_core=1,4",
           part);
    for (const auto& [other, values] : regions) {
      if (other == name) fail(Exit::usage, "--regions: '{}' stands twice", name);
    }
    regions.emplace_back(name, std::vector<int>{});
    for (const std::string& value : split(part.substr(equals + 1), ','))
      regions.back().second.push_back(parse_label(value, part));
  }
  return regions;
}

std::string as_json(const std::vector<DiceRow>& rows) {
  const auto value = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(); };
  nlohmann::json list = nlohmann::json::array();
  for (const DiceRow& row : rows)
    list.push_back({{"case", row.case_id},
                    {"region", row.region},
                    {"dice", value(row.dice)},
                    {"sensitivity", value(row.sensitivity)},
                    {"specificity", value(row.specificity)},
                    {"truth_voxels", row.truth_voxels},
                    {"predicted_voxels", row.predicted_voxels}});
  return list.dump(2);
}

}  // namespace

Exit evaluate_command(const Arguments& arguments) {
  CLI::App app("Score label maps against the truth: files of the same name, or CASE_seg, in two folders.",
               "voxswap evaluate");
  CommonOptions common;
  std::string truth, prediction, out, regions, empty = "brats";
  app.add_option("--truth", truth, "folder of true label maps")->required();
  app.add_option("--prediction", prediction, "folder of predicted label maps")->required();
  app.add_option("--out", out, "the scores as CSV")->required();
  app.add_option(
      "--regions", regions,
      "what is scored, e.g. \"whole_tumor=1,2,4;tumor_core=1,4\"; without it every label by itself");
  app.add_option("--empty", empty, "rule for regions that a case does not have: brats or nnunet")
      ->capture_default_str();
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (empty != "brats" && empty != "nnunet")
    fail(Exit::usage, "--empty: expected brats or nnunet, found '{}'", empty);
  const std::vector<DiceRow> rows = evaluate_folders(truth, prediction, parse_regions(regions), empty);
  write_csv(out, dice_csv(rows));
  std::fputs(common.json ? (as_json(rows) + "\n").c_str() : dice_table(rows).c_str(), stdout);
  return Exit::done;
}

}  // namespace voxswap
