// Bootstrap confidence interval of a mean.
#pragma once

#include <cstdint>
#include <vector>

namespace voxswap::metrics {

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 9999;
  std::uint64_t seed = 1;
};

struct Interval {
  double low = 0, high = 0;
};

// The bias-corrected and accelerated (BCa) interval of the mean: Efron, "Better bootstrap confidence
// intervals", JASA 1987, as scipy.stats.bootstrap computes it. The same values, options and order give the
// same bits. NaN is left out; of fewer than two values the interval is NaN, of equal ones it is that value.
Interval bootstrap_mean(const std::vector<double>& values, const BootstrapOptions& options = {});

}  // namespace voxswap::metrics
