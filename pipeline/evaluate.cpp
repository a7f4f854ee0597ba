#include "pipeline/evaluate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "data/image_io.h"
#include "metrics/metrics.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

// The column of dice.csv that a metric fills.
double& field(DiceRow& row, const std::string& metric) {
  if (metric == "dice") return row.dice;
  if (metric == "hd95") return row.hd95;
  if (metric == "sensitivity") return row.sensitivity;
  if (metric == "specificity") return row.specificity;
  fail(Exit::usage, "metric '{}' has no column in dice.csv", metric);
}

// "case_7_seg.nii.gz" -> "case_7_seg"; empty for a file that is no label map.
std::string stem(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with('.')) return {};
  for (const char* extension : {".nii.gz", ".nii", ".nrrd", ".mha"}) {
    if (ends_with(lower(name), extension)) {
      return name.substr(0, name.size() - std::string_view(extension).size());
    }
  }
  return {};
}

bool marked_as_labels(const std::string& stem) {
  return ends_with(stem, "_seg") || ends_with(stem, "-seg");
}

std::string case_name(const std::string& stem) {
  return marked_as_labels(stem) ? stem.substr(0, stem.size() - 4) : stem;
}

void add_case(std::map<std::string, fs::path>& cases, const fs::path& path) {
  const auto [found, fresh] = cases.try_emplace(case_name(stem(path)), path);
  if (!fresh) {
    fail(Exit::bad_data, "{} and {} are both label maps of case '{}'; keep one of them",
         found->second.string(), path.string(), found->first);
  }
}

// Case name -> file. A folder without label maps of its own may hold a folder per case, as BraTS does; there
// only files marked _seg count, the rest being images.
std::map<std::string, fs::path> label_maps(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    fail(Exit::bad_data, "{}: {}; expected a folder of label maps", folder.string(),
         fs::exists(folder) ? "is not a folder" : "no such folder");
  }
  std::map<std::string, fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() && !stem(entry.path()).empty()) add_case(cases, entry.path());
  }
  if (cases.empty()) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) continue;
      for (const auto& inner : fs::directory_iterator(entry.path())) {
        if (!inner.is_directory() && marked_as_labels(stem(inner.path()))) add_case(cases, inner.path());
      }
    }
  }
  if (cases.empty()) {
    fail(Exit::bad_data, "{}: holds no label map (.nii, .nii.gz, .nrrd, .mha)", folder.string());
  }
  return cases;
}

// A region per label value that occurs in the truth.
Regions regions_in(const std::map<std::string, fs::path>& cases) {
  std::set<int> values;
  for (const auto& [id, path] : cases) {
    const LabelMap labels = read_label_map(path);
    values.insert(labels.voxels.begin(), labels.voxels.end());
  }
  values.erase(0);
  if (values.empty()) {
    fail(Exit::bad_data, "{}: the truth holds nothing but background in all of its {} cases",
         cases.begin()->second.parent_path().string(), cases.size());
  }
  Regions regions;
  for (int value : values) regions.emplace_back(format("label_{}", value), std::vector<int>{value});
  return regions;
}

void require_same_grid(const fs::path& truth_path, const Geometry& truth, const fs::path& prediction_path,
                       const Geometry& prediction) {
  if (same_grid(truth, prediction)) return;
  fail(Exit::bad_data, "{} ({}) is not on the grid of {} ({}); resample it there first",
       prediction_path.string(), describe(prediction), truth_path.string(), describe(truth));
}

}  // namespace

std::vector<DiceRow> score(const std::string& case_id, const LabelMap& truth, const LabelMap& prediction,
                           const Regions& regions, const std::string& empty_rule,
                           const std::vector<std::string>& metrics) {
  if (!same_grid(truth.geometry, prediction.geometry)) {
    fail(Exit::bad_data, "case '{}': truth ({}) and prediction ({}) are on different grids", case_id,
         describe(truth.geometry), describe(prediction.geometry));
  }
  constexpr double not_asked_for = std::numeric_limits<double>::quiet_NaN();
  std::vector<DiceRow> rows;
  for (const auto& [name, values] : regions) {
    MetricInput input;
    input.overlap = overlap(truth.voxels, prediction.voxels, values);
    input.voxels = truth.geometry.count();
    input.empty = parse_empty_rule(empty_rule);
    DiceRow& row = rows.emplace_back();
    row.case_id = case_id;
    row.region = name;
    row.dice = row.hd95 = row.sensitivity = row.specificity = not_asked_for;
    for (const std::string& wanted : metrics) field(row, wanted) = metric(wanted).score(input);
    row.truth_voxels = input.overlap.truth;
    row.predicted_voxels = input.overlap.prediction;
  }
  return rows;
}

std::vector<DiceRow> evaluate_folders(const fs::path& truth, const fs::path& prediction,
                                      const Regions& regions, const std::string& empty_rule) {
  const auto truths = label_maps(truth), predictions = label_maps(prediction);
  for (const auto& [id, path] : truths) {
    if (predictions.contains(id)) continue;
    fail(Exit::bad_data, "case '{}' has a truth ({}) but no prediction in {}; expected {}.nii.gz there", id,
         path.string(), prediction.string(), id);
  }
  for (const auto& [id, path] : predictions) {
    if (!truths.contains(id))
      log::warn("{}: no truth for this case in {}; left out", path.string(), truth.string());
  }
  const Regions scored = regions.empty() ? regions_in(truths) : regions;
  std::vector<DiceRow> rows;
  for (const auto& [id, path] : truths) {
    const LabelMap expected = read_label_map(path), found = read_label_map(predictions.at(id));
    require_same_grid(path, expected.geometry, predictions.at(id), found.geometry);
    for (DiceRow& row : score(id, expected, found, scored, empty_rule, metric_names())) {
      row.run = fs::absolute(prediction / "").lexically_normal().parent_path().filename().string();
      row.evaluated_at = "native";
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string dice_table(const std::vector<DiceRow>& rows) {
  std::set<std::pair<std::string, std::string>> grids;
  for (const DiceRow& row : rows) grids.insert({row.resolution, row.evaluated_at});
  const bool several = grids.size() > 1;
  std::vector<std::vector<std::string>> lines(1, {"Dice", "mean", "median", "sd", "lowest", "cases"});
  if (several) lines[0].insert(lines[0].begin() + 1, {"resolution", "evaluated at"});
  for (const BoxRow& box : box_rows(rows)) {
    if (box.metric != "dice") continue;
    const BoxStatistics& dice = box.statistics;
    auto& line = lines.emplace_back();
    line = {box.region};
    if (several) line.insert(line.end(), {box.resolution, box.evaluated_at});
    for (double value : {dice.mean, dice.median, dice.sd, dice.minimum})
      line.push_back(format("{:.3f}", value));
    line.push_back(std::to_string(dice.n));
  }
  return table(lines);
}

}  // namespace voxswap
