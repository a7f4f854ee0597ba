// Scores label maps against the ground truth.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

metrics::MetricOptions metric_options(const EvaluateOptions& options);

// One case on one grid: a row per region. `run`, `repeat`, `resolution` and `evaluated_at` are the caller's
// to fill. Metrics of the contract that were not asked for are NaN.
std::vector<DiceRow> score(const std::string& case_id, const data::LabelMap& truth,
                           const data::LabelMap& prediction, const data::Regions& regions,
                           const EvaluateOptions& options);

struct FolderOptions {
  data::Regions regions;     // empty: one per label value found in any truth, named label_1, …
  bool partial = false;      // cases without a prediction are left out; else they are an error
  EvaluateOptions evaluate;  // `at` does not matter: on the truth's grid
  // The labels that a case's truth tells of, of cases that are not named: all. Regions with others are not
  // scored there.
  std::map<std::string, std::set<int>> told{};
};

// The files that evaluate_folders() will read.
std::vector<fs::path> files_to_evaluate(const fs::path& truth, const fs::path& prediction,
                                        const FolderOptions& options);

// Any two folders of label maps, ours or not: matched by name (CASE.nii.gz against CASE.nii.gz, also CASE_seg
// or CASE-seg; NIfTI, NRRD or MetaImage). Every file is read once, several cases at a time. Throws
// Exit::bad_data for a missing prediction, grids that differ, or a truth with labels that it does not tell
// of.
std::vector<DiceRow> evaluate_folders(const fs::path& truth, const fs::path& prediction,
                                      const FolderOptions& options);

// "Dice  whole_tumor 0.91 …": mean and median per region, for the terminal; with a column for the mean of
// every other metric that was asked for.
std::string dice_table(const std::vector<DiceRow>& rows);

}  // namespace voxswap::pipeline
