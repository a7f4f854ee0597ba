// voxswap evaluate: scores any label maps against ground truth.
#include "pipeline/predict/evaluate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "data/layouts/incomplete.h"

namespace voxswap::cli {

namespace {

std::string example(const std::string& option) {
  return option == "--labels" ? "e.g. anterior=1;posterior=2" : "e.g. whole_tumor=1,2,4;tumor_core=1,4";
}

int parse_label(const std::string& option, const std::string& text, const std::string& whole) {
  const auto value = parse_number<int>(trim(text));
  if (!value || *value < 1 || *value > 32767)
    fail(Exit::usage, "{}: '{}' is not a label value, in '{}'. {}", option, text, whole, example(option));
  return *value;
}

// Parses "anterior=1;posterior=2", for regions with several values each; names must be unique.
void add_regions(data::Regions& regions, const std::string& option, const std::string& text, bool one_value) {
  if (text.empty()) return;
  for (const std::string& part : split(text, ';')) {
    const std::size_t equals = part.find('=');
    const std::string name = trim(part.substr(0, equals));
    if (equals == part.npos || name.empty())
      fail(Exit::usage, "{}: expected name=value, found '{}'. {}", option, part, example(option));
    for (const auto& [other, values] : regions) {
      if (other == name) fail(Exit::usage, "{}: '{}' is listed twice", option, name);
    }
    std::vector<int> values;
    for (const std::string& value : split(part.substr(equals + 1), ','))
      values.push_back(parse_label(option, value, part));
    if (one_value && values.size() > 1)
      fail(Exit::usage, "{}: '{}' has several values, which is a region. Use --regions", option, name);
    regions.emplace_back(name, std::move(values));
  }
}

// Finds a label by name or value.
int annotated_label(const data::Regions& labels, const std::string& text, const fs::path& table) {
  for (const auto& [name, values] : labels) {
    if (name == text && values.size() == 1) return values.front();
  }
  const auto value = parse_number<int>(text);
  if (!value || *value < 1 || *value > 32767)
    fail(Exit::usage, "--annotated: {}: '{}' is neither a label value nor a name in --labels", table.string(),
         text);
  return *value;
}

std::vector<std::string> parse_metrics(const std::string& text) {
  std::vector<std::string> names;
  if (text == "all") return metrics::metric_names();
  for (const std::string& part : split(text, ',')) {
    const std::string name = value_of("--metrics", [&] { return metrics::metric(trim(part)).name; });
    if (std::find(names.begin(), names.end(), name) != names.end())
      fail(Exit::usage, "--metrics: '{}' is listed twice", name);
    names.push_back(name);
  }
  return names;
}

std::string as_json(const std::vector<pipeline::DiceRow>& rows, const std::vector<std::string>& metrics) {
  const auto value = [](double x) { return std::isfinite(x) ? Json(x) : nullptr; };
  Json list = Json::array();
  for (const pipeline::DiceRow& row : rows) {
    Json entry = {{"case", row.case_id}, {"region", row.region}};
    for (const std::string& metric : metrics) entry[metric] = value(pipeline::metric_value(row, metric));
    entry["truth_voxels"] = row.truth_voxels;
    entry["predicted_voxels"] = row.predicted_voxels;
    list.push_back(std::move(entry));
  }
  return list.dump(2);
}

std::string metrics_help() {
  std::string text = "Metrics to compute: all, or some of these, separated by commas";
  for (const metrics::Metric& metric : metrics::metrics())
    text += format("\n  {}: {}", metric.name, metric.meaning);
  return text;
}

}  // namespace

Exit evaluate_command(const Arguments& arguments) {
  CLI::App app(
      "Score label maps against ground truth: files with the same name, or CASE_seg, in two folders.",
      "voxswap evaluate");
  CommonOptions common;
  pipeline::FolderOptions how;
  pipeline::EvaluateOptions& scoring = how.evaluate;
  std::string truth, prediction, out, labels, regions, annotated, metrics = join(scoring.metrics, ",");
  app.add_option("--truth", truth, "Folder of ground truth label maps")->required();
  app.add_option("--prediction", prediction, "Folder of predicted label maps")->required();
  app.add_option("--out", out, "CSV file for all scores (default: print the table only)");
  app.add_option("--labels", labels, "Label values to score, with names: \"anterior=1;posterior=2\"");
  app.add_option("--regions", regions,
                 "Regions to score: \"whole_tumor=1,2,4;tumor_core=1,4\" (default: every label)");
  app.add_option("--ignore-label", scoring.ignored, "Label value whose voxels are excluded from every score")
      ->check(CLI::Range(1, 32767));
  app.add_option("--annotated", annotated,
                 "CSV with columns case,labels: which labels were annotated in each case");
  app.add_option("--metrics", metrics, metrics_help())->capture_default_str();
  app.add_option("--empty", scoring.empty, "Score of regions that are absent from a case: brats or nnunet")
      ->capture_default_str();
  app.add_option("--surface-tolerance", scoring.surface_tolerance, "Tolerance of surface_dice in mm")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--lesion-dilation", scoring.lesions.dilation,
                 "Dilation of true lesions in voxels (lesion_wise; BraTS: 3)")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--lesion-volume", scoring.lesions.volume,
                 "Volume up to which lesions are ignored, in mm^3 (lesion_wise; BraTS: 50)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--partial", how.partial, "Skip cases without a prediction instead of stopping with an error");
  bool force = false;
  add_force(app, force);
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (scoring.empty != "brats" && scoring.empty != "nnunet")
    fail(Exit::usage, "--empty: expected brats or nnunet, found '{}'", scoring.empty);
  scoring.metrics = parse_metrics(metrics);
  add_regions(how.regions, "--labels", labels, true);
  add_regions(how.regions, "--regions", regions, false);
  if (!annotated.empty())
    how.annotated = data::read_annotated_labels(annotated, "--annotated", [&](const std::string& label) {
      return annotated_label(how.regions, label, annotated);
    });
  Outputs outputs(force);
  if (!out.empty()) {
    check_output_file("--out", out);
    for (const fs::path& file : pipeline::files_to_evaluate(truth, prediction, how)) outputs.protect(file);
    outputs.protect_below(truth);
    outputs.protect_below(prediction);
    outputs.check(out);
  }
  const std::vector<pipeline::DiceRow> rows = pipeline::evaluate_folders(truth, prediction, how);
  if (!out.empty()) outputs.write(out, [&] { write_csv(out, pipeline::csv_of(rows)); });
  common.json ? print_exactly(as_json(rows, scoring.metrics) + "\n") : print(pipeline::dice_table(rows));
  return Exit::done;
}

}  // namespace voxswap::cli
