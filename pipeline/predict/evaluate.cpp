#include "pipeline/predict/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/image_io.h"
#include "data/volumes/orientation.h"
#include "pipeline/report/comparison.h"

namespace voxswap::pipeline {

namespace {

// "case_7_seg.nii.gz" -> "case_7_seg"; empty if the file is not a label map.
std::string stem(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with('.')) return {};
  const std::string volume = data::image_stem(name);
  return volume.empty() ? data::raster_stem(name) : volume;
}

bool marked_as_labels(const std::string& stem) {
  return ends_with(stem, "_seg") || ends_with(stem, "-seg");
}

std::string case_name(const std::string& stem) {
  return marked_as_labels(stem) ? stem.substr(0, stem.size() - 4) : stem;
}

void add_case(std::map<std::string, fs::path>& cases, const fs::path& path) {
  check_name(path, Exit::bad_data);
  const auto [found, fresh] = cases.try_emplace(case_name(stem(path)), path);
  if (!fresh) {
    fail(Exit::bad_data, "{} and {} are both label maps of case '{}'. Remove one of them",
         found->second.string(), path.string(), found->first);
  }
}

// Maps case names to files. A folder without label maps may contain one folder per case, as in BraTS; there
// only files marked _seg are used, since all others are images.
std::map<std::string, fs::path> label_maps(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    fail(Exit::bad_data, "{}: {}. Expected a folder of label maps", folder.string(),
         fs::exists(folder) ? "is not a folder" : no_such_folder(folder));
  }
  std::map<std::string, fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::is_directory(entry.path()) && !stem(entry.path()).empty()) add_case(cases, entry.path());
  }
  if (cases.empty()) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!fs::is_directory(entry.path())) continue;
      for (const auto& inner : fs::directory_iterator(entry.path())) {
        if (!fs::is_directory(inner.path()) && marked_as_labels(stem(inner.path())))
          add_case(cases, inner.path());
      }
    }
  }
  if (cases.empty()) {
    fail(Exit::bad_data, "{}: contains no label map (.nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, {})",
         folder.string(), data::raster_extensions_text());
  }
  return cases;
}

void require_same_grid(const fs::path& truth_path, const data::Geometry& truth,
                       const fs::path& prediction_path, const data::Geometry& prediction) {
  if (data::same_grid(truth, prediction)) return;
  fail(Exit::bad_data, "{} ({}) has another grid than {} ({}). Resample it onto that grid first",
       prediction_path.string(), data::describe(prediction), truth_path.string(), data::describe(truth));
}

// A case to score.
struct CasePaths {
  std::string id;
  fs::path truth, prediction;
};

std::vector<CasePaths> matched(const fs::path& truth, const fs::path& prediction, bool partial) {
  const auto truths = label_maps(truth), predictions = label_maps(prediction);
  std::vector<CasePaths> cases;
  for (const auto& [id, path] : truths) {
    if (predictions.contains(id)) {
      cases.push_back({id, path, predictions.at(id)});
    } else if (!partial) {
      fail(Exit::bad_data,
           "case '{}' has ground truth ({}) but no prediction in {}. Expected {}.nii.gz there; --partial "
           "skips such cases",
           id, path.string(), prediction.string(), id);
    }
  }
  for (const auto& [id, path] : predictions) {
    if (!truths.contains(id))
      log::warn("{}: no ground truth for this case in {}; skipped", path.string(), truth.string());
  }
  if (cases.empty())
    fail(Exit::bad_data, "{} and {} have no case in common", truth.string(), prediction.string());
  if (cases.size() < truths.size())
    log::warn("{} of {} skipped: no prediction", truths.size() - cases.size(),
              counted(truths.size(), "case"));
  return cases;
}

// Default region for a label value, for maps without named regions.
std::pair<std::string, std::vector<int>> label_region(int value) {
  return {format("label_{}", value), {value}};
}

struct CaseScores {
  std::set<int> in_truth, in_prediction;  // label values
  std::vector<DiceRow> rows;              // of the selected regions, or of the case's label values
};

std::set<int> values_in(const data::LabelMap& labels) {
  std::vector<bool> seen(1U << 16);
  for (const std::int16_t value : labels.voxels) seen[static_cast<std::uint16_t>(value)] = true;
  std::set<int> values;
  for (int value = -32768; value < 32768; ++value) {
    if (value != 0 && seen[static_cast<std::uint16_t>(value)]) values.insert(value);
  }
  return values;
}

bool is_annotated(const FolderOptions& options, const std::string& id, const std::vector<int>& values) {
  const auto annotated = options.annotated.find(id);
  return annotated == options.annotated.end() || std::all_of(values.begin(), values.end(), [&](int value) {
           return annotated->second.contains(value);
         });
}

CaseScores score_case(const CasePaths& paths, const FolderOptions& options) {
  const data::LabelMap truth = data::canonical(data::read_label_map(paths.truth)),
                       prediction = data::canonical(data::read_label_map(paths.prediction));
  require_same_grid(paths.truth, truth.geometry, paths.prediction, prediction.geometry);
  CaseScores scores{values_in(truth), values_in(prediction), {}};
  for (std::set<int>* values : {&scores.in_truth, &scores.in_prediction})
    values->erase(options.evaluate.ignored);
  for (const int value : scores.in_truth) {
    if (!is_annotated(options, paths.id, {value}))
      fail(Exit::bad_data, "{}: contains the label {}, which is not annotated in case '{}'",
           paths.truth.string(), value, paths.id);
  }
  data::Regions regions = options.regions;
  if (regions.empty()) {
    std::set<int> values = scores.in_truth;
    values.insert(scores.in_prediction.begin(), scores.in_prediction.end());
    for (int value : values) regions.push_back(label_region(value));
  }
  std::erase_if(regions, [&](const auto& region) { return !is_annotated(options, paths.id, region.second); });
  scores.rows = score(paths.id, truth, prediction, regions, options.evaluate);
  return scores;
}

// Makes all cases use the label values that occur in any ground truth: adds rows for values missing in a case
// and removes rows of values that occur in no ground truth.
void settle_values(const std::vector<CasePaths>& paths, std::vector<CaseScores>& cases,
                   const FolderOptions& options) {
  std::set<int> values, only_predicted;
  for (const CaseScores& scores : cases) values.insert(scores.in_truth.begin(), scores.in_truth.end());
  if (values.empty())
    fail(Exit::bad_data, "{}: the ground truth contains only background ({})",
         paths.front().truth.parent_path().string(), counted(cases.size(), "case"));
  data::LabelMap nothing;
  nothing.geometry.size = {1, 1, 1};
  nothing.voxels = {0};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (int value : cases[i].in_prediction) {
      if (!values.contains(value)) only_predicted.insert(value);
    }
    std::vector<DiceRow> rows;
    for (int value : values) {
      const auto region = label_region(value);
      if (!is_annotated(options, paths[i].id, region.second)) continue;
      const auto found = std::find_if(cases[i].rows.begin(), cases[i].rows.end(),
                                      [&](const DiceRow& row) { return row.region == region.first; });
      rows.push_back(found != cases[i].rows.end()
                         ? *found
                         : score(paths[i].id, nothing, nothing, {region}, options.evaluate).front());
    }
    cases[i].rows = std::move(rows);
  }
  for (int value : only_predicted)
    log::warn("label {} is predicted, but occurs in no ground truth, so it is not scored", value);
}

// A value that occurs nowhere is probably a typing error.
void warn_of_absent_values(const std::vector<CaseScores>& cases, const data::Regions& regions) {
  std::set<int> in_truth, anywhere;
  for (const CaseScores& scores : cases) {
    in_truth.insert(scores.in_truth.begin(), scores.in_truth.end());
    anywhere.insert(scores.in_prediction.begin(), scores.in_prediction.end());
  }
  anywhere.insert(in_truth.begin(), in_truth.end());
  std::vector<std::string> there;
  for (const int value : in_truth) there.push_back(std::to_string(value));
  for (const auto& [name, values] : regions) {
    for (const int value : values) {
      if (in_truth.contains(value)) continue;
      log::warn("{}: the label {} occurs in no ground truth{}. Labels in the ground truth: {}", name, value,
                anywhere.contains(value) ? ", although it is predicted" : " and in no prediction",
                there.empty() ? "none" : join(there, ", "));
    }
  }
}

}  // namespace

metrics::MetricOptions metric_options(const EvaluateOptions& options) {
  return {metrics::parse_empty_rule(options.empty), options.surface_tolerance, options.lesions,
          options.ignored};
}

std::vector<DiceRow> score(const std::string& case_id, const data::LabelMap& truth,
                           const data::LabelMap& prediction, const data::Regions& regions,
                           const EvaluateOptions& options) {
  if (!data::same_grid(truth.geometry, prediction.geometry)) {
    fail(Exit::bad_data, "case '{}': ground truth ({}) and prediction ({}) have different grids", case_id,
         data::describe(truth.geometry), data::describe(prediction.geometry));
  }
  std::vector<std::vector<int>> values;
  for (const auto& [name, labels] : regions) values.push_back(labels);
  const std::vector<metrics::RegionScores> scores =
      metrics::score_regions(truth.voxels, prediction.voxels, truth.geometry.size, truth.geometry.spacing,
                             values, options.metrics, metric_options(options));
  std::vector<DiceRow> rows;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    DiceRow& row = rows.emplace_back();
    row.case_id = case_id;
    row.region = regions[i].first;
    for (std::size_t m = 0; m < options.metrics.size(); ++m)
      set_metric(row, options.metrics[m], scores[i].values[m]);
    row.truth_voxels = scores[i].overlap.truth;
    row.predicted_voxels = scores[i].overlap.prediction;
  }
  return rows;
}

std::vector<fs::path> files_to_evaluate(const fs::path& truth, const fs::path& prediction,
                                        const FolderOptions& options) {
  std::vector<fs::path> files;
  for (const CasePaths& paths : matched(truth, prediction, options.partial)) {
    files.push_back(paths.truth);
    files.push_back(paths.prediction);
  }
  return files;
}

std::vector<DiceRow> evaluate_folders(const fs::path& truth, const fs::path& prediction,
                                      const FolderOptions& options) {
  const std::vector<CasePaths> paths = matched(truth, prediction, options.partial);
  if (!options.annotated.empty()) {
    const auto truths = label_maps(truth);
    for (const auto& [id, labels] : options.annotated)
      if (!truths.contains(id))
        fail(Exit::bad_data, "case '{}' is listed with the labels annotated in it, but is not in {}", id,
             truth.string());
  }
  std::vector<CaseScores> cases(paths.size());
  Progress progress("scoring", "cases", static_cast<std::int64_t>(paths.size()));
  std::mutex mutex;
  parallel_for(paths.size(), [&](std::size_t i) {
    throw_if_interrupted();
    cases[i] = score_case(paths[i], options);
    const std::lock_guard lock(mutex);
    progress.advance();
  });
  if (options.regions.empty())
    settle_values(paths, cases, options);
  else
    warn_of_absent_values(cases, options.regions);
  std::vector<DiceRow> rows;
  for (CaseScores& scores : cases) {
    for (DiceRow& row : scores.rows) {
      row.run = plain(fs::absolute(prediction)).filename().string();
      row.evaluated_at = "native";
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

namespace {

// Says how often regions are absent from the ground truth: there, Dice is 0 for a single predicted voxel.
std::string absent_text(const std::vector<DiceRow>& rows, bool several_grids) {
  struct Absent {
    std::int64_t cases = 0, absent = 0, predicted = 0;
  };
  std::map<std::string, Absent> regions;
  for (const DiceRow& row : rows) {
    if (std::isnan(row.dice)) continue;
    Absent& of = regions[several_grids ? format("{} (resolution {}, grid {})", row.region, row.resolution,
                                                row.evaluated_at)
                                       : row.region];
    ++of.cases;
    of.absent += row.truth_voxels == 0 ? 1 : 0;
    of.predicted += row.truth_voxels == 0 && row.predicted_voxels > 0 ? 1 : 0;
  }
  std::string text;
  for (const auto& [region, of] : regions)
    if (of.absent > 0)
      text += format(
          "{} is absent from the ground truth of {} of {}: predicted in {} (Dice 0), not in {} (Dice 1)\n",
          region, of.absent, counted(of.cases, "case"), of.predicted, of.absent - of.predicted);
  return text;
}

}  // namespace

std::string dice_table(const std::vector<DiceRow>& rows) {
  std::set<std::pair<std::string, std::string>> grids;
  for (const DiceRow& row : rows) grids.insert({row.resolution, row.evaluated_at});
  const std::vector<BoxRow> boxes = box_rows(rows);
  std::set<std::string> scored;
  for (const BoxRow& box : boxes) {
    if (box.statistics.n > 0) scored.insert(box.metric);
  }
  const bool has_dice = scored.contains("dice"), beside = has_dice && scored.size() <= 4;

  std::vector<std::vector<std::string>> dice(1, {"Dice"}), others(1, {"region"});
  if (grids.size() > 1)
    for (auto* lines : {&dice, &others}) lines->front().insert(lines->front().end(), {"resolution", "grid"});
  others[0].push_back("metric");
  for (auto* lines : {&dice, &others})
    lines->front().insert(lines->front().end(), {"mean", "median", "sd", "lowest", "cases"});
  for (const BoxRow& box : boxes) {
    const bool is_dice = box.metric == "dice";
    if (!scored.contains(box.metric)) continue;
    if (!is_dice && beside) {  // its region has the last line
      if (dice.size() == 2) dice[0].push_back(box.metric);
      dice.back().push_back(format("{:.3f}", box.statistics.mean));
      continue;
    }
    auto& line = (is_dice ? dice : others).emplace_back(1, box.region);
    if (grids.size() > 1) line.insert(line.end(), {box.resolution, box.evaluated_at});
    if (!is_dice) line.push_back(box.metric);
    const metrics::BoxStatistics& of = box.statistics;
    for (double value : {of.mean, of.median, of.sd, of.minimum}) line.push_back(format("{:.3f}", value));
    line.push_back(std::to_string(of.n));
  }
  std::string text;
  if (has_dice) text = table(dice) + absent_text(rows, grids.size() > 1);
  if (others.size() > 1) text += (has_dice ? "\n" : "") + table(others);
  return text;
}

}  // namespace voxswap::pipeline
