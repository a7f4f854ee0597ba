#include "pipeline/report/finding.h"

#include <algorithm>
#include <cmath>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using RegionRows = std::vector<const ComparisonRow*>;  // a row per region, of one pair of groups

double ratio_of_sides(const ComparisonRow& row) {
  return voxels_per_side(row.resolution_b) / voxels_per_side(row.resolution_a);
}

// The rows of the pair with the largest step in resolution or, without resolutions, of the only pair.
RegionRows main_pair(const std::vector<RunGroup>& groups, const std::vector<ComparisonRow>& comparisons,
                     const std::string& grid) {
  RegionRows rows;
  for (const ComparisonRow& row : comparisons) {
    const bool resolutions = row.compared == key::preprocess_resolution;
    const bool one_key = groups.size() == 2 && row.compared.find('+') == row.compared.npos &&
                         groups[0].keys.contains(row.compared) && !groups[0].keys.at(row.compared).empty() &&
                         !groups[1].keys.at(row.compared).empty();
    if (row.metric != "dice" || row.evaluated_at != grid || !(resolutions || one_key)) continue;
    if (resolutions && !rows.empty() && ratio_of_sides(row) > ratio_of_sides(*rows[0])) rows.clear();
    if (rows.empty() || (row.resolution_a == rows[0]->resolution_a && row.setting_a == rows[0]->setting_a &&
                         row.resolution_b == rows[0]->resolution_b && row.setting_b == rows[0]->setting_b))
      rows.push_back(&row);
  }
  return rows;
}

std::string lower_heading(const std::string& key) {
  const std::string heading = heading_of(key);
  return lower(heading.substr(0, heading.find(',')));
}

// "; also different: epochs (2 and 60)": further keys that may explain the difference.
std::string other_keys(const std::vector<RunGroup>& groups, const ComparisonRow& row) {
  if (row.also_differs.empty()) return {};
  const RunGroup &a = groups[group_with(groups, row.resolution_a, row.setting_a)],
                 &b = groups[group_with(groups, row.resolution_b, row.setting_b)];
  const auto value = [](const RunGroup& group, const std::string& key) {
    const std::string& found = group.keys.at(key);
    return found.empty() ? "unknown" : found;
  };
  std::vector<std::string> words;
  for (const std::string& key : split(row.also_differs, '+'))
    words.push_back(format("{} ({} and {})", lower_heading(key), value(a, key), value(b, key)));
  return "; also different: " + listed(words, 3);
}

// "Doubling the resolution from 64 to 128 voxels per side"
std::string change_words(const std::vector<RunGroup>& groups, const ComparisonRow& row) {
  if (row.compared != key::preprocess_resolution)
    return format("Changing the {} from {} to {}", lower_heading(row.compared),
                  groups[0].keys.at(row.compared), groups[1].keys.at(row.compared));
  const bool doubled = std::fabs(ratio_of_sides(row) - 2) < 0.01;
  const bool cubes = (row.resolution_a + row.resolution_b).find('x') == std::string::npos;
  return format("{} the resolution from {} to {} voxels{}{}", doubled ? "Doubling" : "Increasing",
                row.resolution_a, row.resolution_b, cubes ? " per side" : "",
                row.setting_a.empty() ? "" : format(" ({})", row.setting_a));
}

// The row with the largest difference in this direction (1: up, -1: down) among the significant ones; null if
// there is none.
const ComparisonRow* largest(const RegionRows& rows, double direction) {
  const ComparisonRow* found = nullptr;
  for (const ComparisonRow* row : rows)
    if (is_significant(*row, rows.size()) && direction * row->difference > 0 &&
        (!found || direction * row->difference > direction * found->difference))
      found = row;
  return found;
}

// "raises Dice of enhancing tumor most, by 0.041 (95 % interval 0.022 to 0.060, n = 36)"; a fall has positive
// numbers, too.
std::string effect_words(const ComparisonRow& row, bool is_largest) {
  const bool up = row.difference > 0;
  const double low = up ? row.interval.low : -row.interval.high,
               high = up ? row.interval.high : -row.interval.low;
  return format("{} Dice of {}{} by {:.3f} (95 % interval {:.3f} to {:.3f}, n = {})",
                up ? "raises" : "lowers", with_spaces(row.region), is_largest ? " most," : "",
                std::fabs(row.difference), low, high, row.differences.size());
}

std::string dice_words(const RegionRows& rows) {
  std::vector<std::string> effects;
  for (const double direction : {1.0, -1.0})
    if (const ComparisonRow* row = largest(rows, direction)) {
      const bool is_largest =
          std::ranges::none_of(rows, [&](const ComparisonRow* other) {  // significant or not
            return direction * other->difference > direction * row->difference;
          });
      effects.push_back(effect_words(*row, rows.size() > 1 && is_largest));
    }
  if (!effects.empty()) return join(effects, " and ");
  const ComparisonRow& row = **std::ranges::max_element(
      rows, {}, [](const ComparisonRow* one) { return std::fabs(one->difference); });
  const std::string region = with_spaces(row.region);
  const std::size_t n = row.differences.size();
  if (std::ranges::all_of(rows, [](const ComparisonRow* one) {
        return std::ranges::all_of(one->differences, [](double difference) { return difference == 0; });
      }))
    return format("does not change the Dice of any compared case (n = {})", n);
  return format(
      "does not change Dice significantly ({}{} {:+.3f}{}, n = {})",
      rows.size() > 1 ? "largest difference: " : "", region, row.difference,
      n > 1 ? format(", 95 % interval {:+.3f} to {:+.3f}", row.interval.low, row.interval.high) : "", n);
}

}  // namespace

std::string finding(const std::vector<RunGroup>& groups, const std::vector<ComparisonRow>& comparisons,
                    const std::vector<TimingRow>& timing, const std::string& grid) {
  const RegionRows rows = main_pair(groups, comparisons, grid);
  if (rows.empty()) return {};
  const ComparisonRow& pair = *rows[0];
  const auto of_groups = by_group(groups, timing);
  const auto epoch = [&](const std::string& resolution, const std::string& setting) {
    return mean_of(of_groups[group_with(groups, resolution, setting)], &TimingRow::epoch_seconds_mean);
  };
  const double times = epoch(pair.resolution_b, pair.setting_b) / epoch(pair.resolution_a, pair.setting_a);
  return format("{} {}{}{}{}.", change_words(groups, pair), dice_words(rows),
                grid == "native" ? "" : ", on " + grid_words(grid), other_keys(groups, pair),
                std::isfinite(times) ? format("; an epoch takes {:.1f} times as long", times) : "");
}

std::string grid_words(const std::string& evaluated_at) {
  if (evaluated_at == "native") return "the cases' own grids";
  return evaluated_at == "training" ? "the training grid" : "a grid of " + evaluated_at;
}

}  // namespace voxswap::pipeline
