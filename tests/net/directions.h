// Small vector arithmetic for moving along a direction.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/net/run_graph.h"

namespace voxswap::net {

inline std::vector<double> normal_values(std::int64_t count, std::uint64_t stream) {
  return fill_values(Fill::normal, count, stream);
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline std::vector<double> moved(std::vector<double> x, double step, const std::vector<double>& direction) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * direction[i];
  return x;
}

}  // namespace voxswap::net
