#include "pipeline/report/same_data.h"

#include <cmath>
#include <map>
#include <set>

#include "base/keys.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using RegionVoxels = std::map<std::string, std::int64_t>;

// The ground truth as text: its regions with their voxels; of a case without any, the data set.
std::string truth_text(const RegionVoxels& regions, const std::string& data_root) {
  std::string text;
  for (const auto& [region, voxels] : regions)
    if (voxels > 0) text += format("\n{} {}", region, voxels);
  return text.empty() ? "\n" + data_root : text;
}

}  // namespace

std::vector<DiceRow> rows_by_data(const std::vector<RunFolder>& runs, std::vector<std::string>& notes) {
  using Two = std::pair<std::string, std::string>;
  std::map<Two, RegionVoxels> truths;         // by run and case
  std::map<Two, std::set<std::int64_t>> all;  // by case and region
  std::vector<DiceRow> rows;
  for (const RunFolder& run : runs) {
    append(rows, run.dice);
    for (const DiceRow& row : run.dice) {
      const bool is_annotated = row.truth_voxels > 0 || !std::isnan(row.dice);
      if (row.evaluated_at != "native" || !is_annotated) continue;
      truths[{row.run, row.case_id}][row.region] = row.truth_voxels;
      all[{row.case_id, row.region}].insert(row.truth_voxels);
    }
  }
  std::set<std::string> different;  // cases
  for (const auto& [place, voxels] : all)
    if (voxels.size() > 1) different.insert(place.first);
  if (different.empty()) return rows;
  notes.push_back(format(
      "{} with the same name but different ground truths in these runs, which are not compared there: {}",
      counted(different.size(), "case"), listed({different.begin(), different.end()}, 3)));
  auto row = rows.begin();
  for (const RunFolder& run : runs)
    for (std::size_t i = 0; i < run.dice.size(); ++i, ++row) {
      const RegionVoxels& regions = truths[{row->run, row->case_id}];
      const bool is_empty = std::ranges::none_of(regions, [](const auto& one) { return one.second > 0; });
      if (is_empty || different.contains(row->case_id))
        row->case_id += truth_text(regions, run.setting(key::data_root));
    }
  return rows;
}

}  // namespace voxswap::pipeline
