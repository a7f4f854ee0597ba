// Quartiles by linear interpolation between order statistics (NumPy's default; type 7 of Hyndman and Fan),
// whiskers at the last value within 1.5 interquartile ranges of the box (Tukey; Matplotlib's boxplot_stats).
#include "metrics/box_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace voxswap::metrics {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted_numbers(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  return values;
}

double sorted_quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return not_a_number;
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const double low = sorted[below], high = sorted[std::min(below + 1, sorted.size() - 1)];
  const double part = position - static_cast<double>(below);
  // From the nearer end, as in NumPy: exact at both ends, and monotonic.
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

void set_mean_and_deviation(BoxStatistics& box, const std::vector<double>& sorted) {
  const double n = static_cast<double>(sorted.size());
  double sum = 0, squares = 0;
  for (double value : sorted) sum += value;
  box.mean = sum / n;
  for (double value : sorted) squares += (value - box.mean) * (value - box.mean);
  box.sd = sorted.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
}

void set_whiskers(BoxStatistics& box, const std::vector<double>& sorted) {
  const double reach = 1.5 * (box.q3 - box.q1);
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), box.q1 - reach);
  const auto last = std::upper_bound(sorted.begin(), sorted.end(), box.q3 + reach);
  // A whisker never ends inside the box, even if interpolation leaves no value between the box and the fence.
  box.whisker_low = first == sorted.end() ? box.q1 : std::min(*first, box.q1);
  box.whisker_high = last == sorted.begin() ? box.q3 : std::max(*(last - 1), box.q3);
  for (double value : sorted) {
    if (value < box.whisker_low || value > box.whisker_high) box.outliers.push_back(value);
  }
}

}  // namespace

BoxStatistics box_statistics(std::vector<double> values) {
  BoxStatistics box;
  const std::size_t given = values.size();
  const std::vector<double> sorted = sorted_numbers(std::move(values));
  box.n = sorted.size();
  box.nan = given - sorted.size();
  if (sorted.empty()) {
    box.mean = box.sd = box.minimum = box.q1 = box.median = box.q3 = box.maximum = not_a_number;
    box.whisker_low = box.whisker_high = not_a_number;
    return box;
  }
  set_mean_and_deviation(box, sorted);
  box.minimum = sorted.front();
  box.maximum = sorted.back();
  box.q1 = sorted_quantile(sorted, 0.25);
  box.median = sorted_quantile(sorted, 0.5);
  box.q3 = sorted_quantile(sorted, 0.75);
  set_whiskers(box, sorted);
  return box;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double q) {
  return sorted_quantile(sorted_numbers(std::move(values)), q);
}

}  // namespace voxswap::metrics
