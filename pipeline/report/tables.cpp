#include "pipeline/report/tables.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "base/keys.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap::pipeline {

std::vector<EpochRow> best_epochs(const std::vector<EpochRow>& rows) {
  std::vector<EpochRow> best;
  for (const EpochRow& row : rows) {
    if (std::isnan(row.validation_loss)) continue;
    const auto found = std::find_if(best.begin(), best.end(), [&](const EpochRow& one) {
      return one.run == row.run && one.resolution == row.resolution && one.repeat == row.repeat;
    });
    if (found == best.end())
      best.push_back(row);
    else if (row.validation_loss < found->validation_loss)
      *found = row;
  }
  return best;
}

std::string resolution_text(const std::array<std::int64_t, 3>& size) {
  if (size[0] == size[1] && size[1] == size[2]) return std::to_string(size[0]);
  if (size[2] == 1) return format("{}x{}", size[0], size[1]);
  return format("{}x{}x{}", size[0], size[1], size[2]);
}

double resolution_voxels(const std::string& resolution) {
  const std::vector<std::string> sides = split(resolution, 'x');
  double voxels = 1;
  for (const std::string& side : sides) {
    const auto extent = parse_number<double>(side);
    if (!extent) return std::numeric_limits<double>::infinity();
    voxels *= *extent;
  }
  return sides.size() == 1 ? voxels * voxels * voxels : voxels;
}

void set_scores(CalibrationRow& row, const metrics::Calibration& found) {
  row.voxels = found.voxels();
  row.expected_error = found.expected_error();
  row.maximum_error = found.maximum_error();
  row.brier = found.brier();
  row.log_loss = found.log_loss();
}

namespace {

const std::map<std::string, std::string>& known() {
  static const std::map<std::string, std::string> headings = {
      {key::preprocess_resolution, "Resolution, voxels"},
      {"resolution", "Resolution, voxels"},
      {"evaluated_at", "Scoring grid"},
      {"dice", "Mean Dice"},
      {"hd95", "Mean HD95, mm"},
      {"n", "Cases"},
      {"sd", "SD"},
      {"size", "Largest size"},
      {"next", "Next size, does not fit"},
      {"fits", "Fits"},
      {"megavoxels", "Megavoxels per step"},
      {"epoch_seconds", "Epoch, s"},
      {"epoch_seconds_mean", "Epoch, s"},
      {"step_seconds_median", "Step, measured, s"},
      {"predicted_step_seconds", "Step, predicted, s"},
      {"simulated_step_seconds", "Step, simulated, s"},
      {"bound_step_seconds", "Step, lower bound, s"},
      {"overhead", "Overhead"},
      {"utilization", "Utilisation"},
      {"stall_seconds", "Stall per step, s"},
      {"to_host_gbps", "Swap-out rate, GB/s"},
      {"to_device_gbps", "Swap-in rate, GB/s"},
      {key::memory_link, "Link, GB/s"},
      {"swapped_out_bytes", "Swapped out per step"},
      {"swapped_in_bytes", "Swapped in per step"},
      {"recomputed_nodes", "Nodes recomputed per step"},
      {"device_peak_bytes", "Device memory"},
      {"budget_bytes", "Budget"},
      {"host_budget_bytes", "Host budget"},
      {"host_bytes", "Host pool"},
      {"disk_bytes", "Scratch file"}};
  return headings;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string with_spaces(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string heading_of(const std::string& column) {
  if (const auto found = known().find(column); found != known().end()) return found->second;
  const std::string last = column.substr(column.rfind('.') + 1);
  if (const auto found = known().find(last); found != known().end()) return found->second;
  if (last.starts_with("dice_")) return "Dice, " + with_spaces(last.substr(5));
  constexpr std::pair<const char*, const char*> units[] = {
      {"_seconds", ", s"}, {"_gbps", ", GB/s"}, {"_bytes", ""}, {"_minutes", ", min"}};
  for (const auto& [ending, unit] : units) {
    if (last.size() > std::string_view(ending).size() && ends_with(last, ending))
      return capitalised(with_spaces(last.substr(0, last.size() - std::string_view(ending).size()))) + unit;
  }
  return capitalised(with_spaces(last));
}

}  // namespace voxswap::pipeline
