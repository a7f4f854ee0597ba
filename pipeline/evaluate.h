// Scores label maps against the truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "pipeline/tables.h"

namespace voxswap {

// One case on one grid: a row per region. `run`, `repeat`, `resolution` and `evaluated_at` are the caller's
// to fill.
std::vector<DiceRow> score(const std::string& case_id, const LabelMap& truth, const LabelMap& prediction,
                           const Regions& regions, const std::string& empty_rule,
                           const std::vector<std::string>& metrics);

// Any two folders of label maps, ours or not: matched by name (CASE.nii.gz against CASE.nii.gz, also CASE_seg
// or CASE-seg). Empty `regions`: one per label value found in the truth, named label_1, …. Throws
// Exit::bad_data for a missing prediction, or grids that differ.
std::vector<DiceRow> evaluate_folders(const std::filesystem::path& truth,
                                      const std::filesystem::path& prediction, const Regions& regions,
                                      const std::string& empty_rule);

// "Dice  whole_tumor 0.91 …": mean and median per region, for the terminal.
std::string dice_table(const std::vector<DiceRow>& rows);

}  // namespace voxswap
