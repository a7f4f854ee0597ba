#include "metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/philox.h"
#include "metrics/box_statistics.h"

namespace voxswap::metrics {

namespace {

double normal_cdf(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// By bisection: a few calls per interval, so nothing faster is needed.
double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
      // A word times n, its upper half: even up to n / 2^32.
      sum += values[static_cast<std::size_t>(std::uint64_t{words[i % 4]} * values.size() >> 32)];
    }
    means.push_back(sum / static_cast<double>(values.size()));
  }
  return means;
}

// The share of resamples below the estimate, those equal to it (but for rounding) counted half, as a normal
// deviate.
double bias_correction(const std::vector<double>& means, double estimate, double largest) {
  double below = 0;
  for (const double value : means) {
    const bool equal = std::fabs(value - estimate) <= 1e-12 * largest;
    below += equal ? 0.5 : value < estimate ? 1 : 0;
  }
  return normal_quantile(below / static_cast<double>(means.size()));
}

// From the means with one value left out; of a mean they are the values again, shrunk and mirrored.
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
