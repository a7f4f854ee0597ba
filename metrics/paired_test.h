// Wilcoxon's signed-rank test of paired differences, and Holm's correction for several tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxswap::metrics {

struct SignedRankTest {
  std::size_t n = 0;                                    // ranked differences: neither NaN nor zero
  std::size_t zeros = 0;                                // excluded, as in Wilcoxon's test
  double rank_sum_positive = 0, rank_sum_negative = 0;  // ties share their mean rank
  double statistic = 0;                                 // the smaller one
  double p = 1;                                         // two-sided; NaN if there is no nonzero difference
  bool exact = false;  // computed from all 2^n signs instead of the normal approximation
};

// Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1945. Exact up to 50 ranked
// differences, given their ties; otherwise the normal approximation with the variance corrected for ties,
// without a continuity correction, as scipy.stats.wilcoxon. NaN is ignored.
SignedRankTest signed_rank_test(const std::vector<double>& differences);

// Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 1979: adjusted p values
// of one family, in the given order. NaN is kept and does not count.
std::vector<double> holm(const std::vector<double>& p);

// Bootstrap confidence interval of a mean.
struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 9999;
  std::uint64_t seed = 1;
};

struct Interval {
  double low = 0, high = 0;
};

// The bias-corrected and accelerated (BCa) interval of the mean: Efron, "Better bootstrap confidence
// intervals", JASA 1987, as in scipy.stats.bootstrap. Equal values, options and order give identical results.
// NaN is ignored; for fewer than two values the interval is NaN, for equal values it is that value.
Interval bootstrap_mean(const std::vector<double>& values, const BootstrapOptions& options = {});

}  // namespace voxswap::metrics
