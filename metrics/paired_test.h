// Wilcoxon's signed-rank test of paired differences, and Holm's correction for several tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxswap::metrics {

struct SignedRankTest {
  std::size_t n = 0;      // differences that are numbers and not zero: what is ranked
  std::size_t zeros = 0;  // left out, as Wilcoxon does
  double rank_sum_positive = 0, rank_sum_negative = 0;  // ties share their mean rank
  double statistic = 0;                                 // the smaller of both
  double p = 1;        // two-sided; NaN when every difference is zero or there is none
  bool exact = false;  // from all 2^n signs; otherwise from the normal approximation
};

// Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1945. Exact up to 50 differences
// without zeros and ties; otherwise the normal approximation with the variance corrected for ties, without a
// correction for continuity: as scipy.stats.wilcoxon. NaN is left out.
SignedRankTest signed_rank_test(const std::vector<double>& differences);

// Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 1979: p values of one
// family, adjusted, in the order given. NaN stays and does not count.
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
// intervals", JASA 1987, as scipy.stats.bootstrap computes it. The same values, options and order give the
// same bits. NaN is left out; of fewer than two values the interval is NaN, of equal ones it is that value.
Interval bootstrap_mean(const std::vector<double>& values, const BootstrapOptions& options = {});

}  // namespace voxswap::metrics
