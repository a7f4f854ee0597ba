#include "metrics/paired_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/philox.h"
#include "metrics/box_statistics.h"

namespace voxswap::metrics {

namespace {

constexpr std::size_t most_exact = 50;

// Ranks by magnitude from 1; ties share their mean rank.
struct Ranks {
  std::vector<double> of;  // per value
  double tie_sum = 0;      // of t^3 - t over groups of t equal values
};

Ranks ranks_of(const std::vector<double>& magnitudes) {
  std::vector<std::size_t> order(magnitudes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return magnitudes[a] < magnitudes[b]; });
  Ranks ranks;
  ranks.of.resize(magnitudes.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && magnitudes[order[end]] == magnitudes[order[first]]) ++end;
    const double mean_rank = static_cast<double>(first + end + 1) / 2,
                 ties = static_cast<double>(end - first);
    for (std::size_t i = first; i < end; ++i) ranks.of[order[i]] = mean_rank;
    ranks.tie_sum += ties * ties * ties - ties;
    first = end;
  }
  return ranks;
}

// Counts how many of the 2^n sign combinations give each rank sum, one rank at a time. The mean ranks of ties
// are halves, so ranks are counted doubled. Exact in doubles: at most 2^50.
double exact_p(const std::vector<double>& ranks, double rank_sum) {
  std::vector<double> counts(ranks.size() * (ranks.size() + 1) + 1, 0);
  counts[0] = 1;
  std::size_t largest = 0;
  for (const double rank : ranks) {
    const auto twice = static_cast<std::size_t>(2 * rank);
    largest += twice;
    for (std::size_t sum = largest; sum >= twice; --sum) counts[sum] += counts[sum - twice];
  }
  const auto last = counts.begin() + static_cast<std::ptrdiff_t>(2 * rank_sum) + 1;
  const double tail = std::accumulate(counts.begin(), last, 0.0);
  return std::min(1.0, 2 * tail / std::exp2(static_cast<double>(ranks.size())));
}

double approximate_p(double n, double tie_sum, double rank_sum) {
  const double mean = n * (n + 1) / 4;
  const double variance = (n * (n + 1) * (2 * n + 1) - tie_sum / 2) / 24;
  return std::erfc(std::fabs(rank_sum - mean) / std::sqrt(2 * variance));
}

}  // namespace

SignedRankTest signed_rank_test(const std::vector<double>& differences) {
  SignedRankTest test;
  std::vector<double> magnitudes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    if (std::isnan(difference)) continue;
    if (difference == 0) {
      ++test.zeros;
      continue;
    }
    magnitudes.push_back(std::fabs(difference));
    positive.push_back(difference > 0);
  }
  test.n = magnitudes.size();
  if (test.n == 0) {
    test.p = std::numeric_limits<double>::quiet_NaN();
    return test;
  }
  const Ranks ranks = ranks_of(magnitudes);
  for (std::size_t i = 0; i < test.n; ++i)
    (positive[i] ? test.rank_sum_positive : test.rank_sum_negative) += ranks.of[i];
  test.statistic = std::min(test.rank_sum_positive, test.rank_sum_negative);
  test.exact = test.n <= most_exact;
  test.p = test.exact ? exact_p(ranks.of, test.statistic)
                      : approximate_p(static_cast<double>(test.n), ranks.tie_sum, test.statistic);
  return test;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted = p;
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

namespace {

double normal_cdf(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// Bisection is fast enough for a few calls per interval.
double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<double> resampled_means(const std::vector<double>& values, const BootstrapOptions& options) {
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(options.resamples));
  for (int r = 0; r < options.resamples; ++r) {
    const Philox draws(options.seed, static_cast<std::uint64_t>(r));
    double sum = 0;
    Philox::Block words{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 4 == 0) words = draws.block(static_cast<std::uint32_t>(i / 4));
      // Upper half of word times n: uniform up to n / 2^32.
      sum += values[static_cast<std::size_t>(std::uint64_t{words[i % 4]} * values.size() >> 32)];
    }
    means.push_back(sum / static_cast<double>(values.size()));
  }
  return means;
}

// The fraction of resamples below the estimate, counting equal ones (up to rounding) half, as a normal
// quantile.
double bias_correction(const std::vector<double>& means, double estimate, double largest) {
  double below = 0;
  for (const double value : means) {
    const bool equal = std::fabs(value - estimate) <= 1e-12 * largest;
    below += equal ? 0.5 : value < estimate ? 1 : 0;
  }
  return normal_quantile(below / static_cast<double>(means.size()));
}

// Jackknife estimate; for a mean, the leave-one-out means are affine in the values.
double acceleration(const std::vector<double>& values, double estimate) {
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double influence = value - estimate;
    squares += influence * influence;
    cubes += influence * influence * influence;
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

}  // namespace

Interval bootstrap_mean(const std::vector<double>& given, const BootstrapOptions& options) {
  std::vector<double> values = given;
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.size() < 2) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most) return {*least, *least};
  const double estimate = mean(values);
  const std::vector<double> means = resampled_means(values, options);
  const double largest = std::max(std::fabs(*least), std::fabs(*most));
  const double bias = bias_correction(means, estimate, largest), skew = acceleration(values, estimate);
  const auto end_at = [&](double share) {
    const double shifted = bias + normal_quantile(share);
    return quantile(means, normal_cdf(bias + shifted / (1 - skew * shifted)));
  };
  const double outside = (1 - options.confidence) / 2;
  return {end_at(outside), end_at(1 - outside)};
}

}  // namespace voxswap::metrics
