// Calibration: how well predicted probabilities match observed frequencies.
//
// Expected and maximum calibration error over 15 bins of equal width (Naeini et al. 2015, Guo et al. 2017),
// per output (class-wise: Nixon et al. 2019), and two proper scores: Brier score and log loss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace voxswap::metrics {

class Calibration {
 public:
  static constexpr std::size_t bins = 15;

  void add(double probability, bool belongs);
  void add(const Calibration& other);

  std::int64_t voxels() const;
  // Differences between mean probability and observed frequency over the non-empty bins: their mean, weighted
  // by voxels, and their maximum. NaN without voxels.
  double expected_error() const;
  double maximum_error() const;
  double brier() const;     // mean of (p - t)^2
  double log_loss() const;  // mean of -log of the probability of the true class, clamped at 1e-7

  struct Bin {
    std::int64_t voxels = 0, belonging = 0;
    double sum = 0;  // of probabilities
    double error() const;
  };
  const std::array<Bin, bins>& counts() const { return bins_; }

 private:
  std::array<Bin, bins> bins_{};
  double squares_ = 0, logs_ = 0;
};

}  // namespace voxswap::metrics
