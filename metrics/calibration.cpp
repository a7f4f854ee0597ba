#include "metrics/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxswap::metrics {

namespace {

double per_voxel(double sum, std::int64_t voxels) {
  return voxels > 0 ? sum / static_cast<double>(voxels) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double Calibration::Bin::error() const {
  return std::abs(sum - static_cast<double>(belonging)) / static_cast<double>(voxels);
}

void Calibration::add(double probability, bool belongs) {
  const double p =
      std::clamp(probability, 0.0, 1.0);  // sums over several networks may exceed the range by rounding
  Bin& bin = bins_[std::min(bins - 1, static_cast<std::size_t>(p * static_cast<double>(bins)))];
  ++bin.voxels;
  bin.belonging += belongs ? 1 : 0;
  bin.sum += p;
  const double away = belongs ? 1 - p : p;
  squares_ += away * away;
  logs_ -= std::log(std::max(1 - away, 1e-7));
}

void Calibration::add(const Calibration& other) {
  for (std::size_t b = 0; b < bins; ++b) {
    bins_[b].voxels += other.bins_[b].voxels;
    bins_[b].belonging += other.bins_[b].belonging;
    bins_[b].sum += other.bins_[b].sum;
  }
  squares_ += other.squares_;
  logs_ += other.logs_;
}

std::int64_t Calibration::voxels() const {
  std::int64_t count = 0;
  for (const Bin& bin : bins_) count += bin.voxels;
  return count;
}

double Calibration::expected_error() const {
  double sum = 0;
  for (const Bin& bin : bins_)
    if (bin.voxels > 0) sum += bin.error() * static_cast<double>(bin.voxels);
  return per_voxel(sum, voxels());
}

double Calibration::maximum_error() const {
  double largest = voxels() > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  for (const Bin& bin : bins_)
    if (bin.voxels > 0) largest = std::max(largest, bin.error());
  return largest;
}

double Calibration::brier() const {
  return per_voxel(squares_, voxels());
}

double Calibration::log_loss() const {
  return per_voxel(logs_, voxels());
}

}  // namespace voxswap::metrics
