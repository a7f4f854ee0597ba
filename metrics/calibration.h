// Calibration: how well predicted probabilities match observed frequencies.
//
// Expected and maximum calibration error over 15 bins of equal width (Naeini et al. 2015, Guo et al. 2017),
// of one output by itself (class-wise: Nixon et al. 2019), and two scores of probabilities: Brier's and the
// log loss.
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
  // Over the bins that are not empty: the mean, by voxels, and the largest of the differences between the
  // mean probability and the share that belongs. NaN without voxels.
  double expected_error() const;
  double maximum_error() const;
  double brier() const;     // mean of (p - t)^2
  double log_loss() const;  // mean of -log of what the truth was given, which is taken for 1e-7 at least

 private:
  struct Bin {
    std::int64_t voxels = 0, belonging = 0;
    double sum = 0;  // of probabilities
    double error() const;
  };
  std::array<Bin, bins> bins_{};
  double squares_ = 0, logs_ = 0;
};

}  // namespace voxswap::metrics
