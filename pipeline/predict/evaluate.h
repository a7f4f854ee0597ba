// Scores label maps against the ground truth.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

metrics::MetricOptions metric_options(const EvaluateOptions& options);

// Scores one case on one grid: a row per region. The caller sets `run`, `repeat`, `resolution` and
// `evaluated_at`. Metrics that were not selected are NaN.
std::vector<DiceRow> score(const std::string& case_id, const data::LabelMap& truth,
                           const data::LabelMap& prediction, const data::Regions& regions,
                           const EvaluateOptions& options);

struct FolderOptions {
  data::Regions regions;     // empty: one per label value in the ground truth, named label_1, …
  bool partial = false;      // skip cases without prediction instead of failing
  EvaluateOptions evaluate;  // `at` is ignored: uses the grid of the ground truth
  // Annotated labels by case; cases not listed are fully annotated. Regions with other labels are not scored
  // in that case.
  std::map<std::string, std::set<int>> annotated{};
};

// The files that evaluate_folders() reads.
std::vector<fs::path> files_to_evaluate(const fs::path& truth, const fs::path& prediction,
                                        const FolderOptions& options);

// Scores any two folders of label maps (NIfTI, NRRD or MetaImage), matched by name (CASE, CASE_seg or
// CASE-seg). Reads each file once, several cases in parallel. Throws Exit::bad_data for a missing prediction,
// different grids, or ground truth that contains labels listed as not annotated.
std::vector<DiceRow> evaluate_folders(const fs::path& truth, const fs::path& prediction,
                                      const FolderOptions& options);

// Table for the terminal, "Dice  whole_tumor 0.91 …": mean and median Dice per region, and how many cases
// lack a region, and in how many it was predicted. Up to three other selected metrics have a column with
// their mean, more have a table of their own.
std::string dice_table(const std::vector<DiceRow>& rows);

}  // namespace voxswap::pipeline
