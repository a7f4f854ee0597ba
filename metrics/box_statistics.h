// The statistics of a box plot, as defined by NumPy (linearly interpolated quartiles) and Matplotlib
// (whiskers).
#pragma once

#include <cstddef>
#include <vector>

namespace voxswap::metrics {

struct BoxStatistics {
  std::size_t n = 0;        // values that are not NaN
  std::size_t nan = 0;      // NaN values, excluded from all statistics
  double mean = 0, sd = 0;  // sd with n - 1; 0 for a single value. All fields are NaN if n is 0
  double minimum = 0, q1 = 0, median = 0, q3 = 0, maximum = 0;
  double whisker_low = 0, whisker_high = 0;  // the last value within 1.5 interquartile ranges of the box
  std::vector<double> outliers;              // beyond the whiskers, ascending
};

BoxStatistics box_statistics(std::vector<double> values);
double mean(const std::vector<double>& values);         // NaN if there are no values
double quantile(std::vector<double> values, double q);  // NumPy's default; NaN if there are no values

}  // namespace voxswap::metrics
