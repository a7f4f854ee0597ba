// Uniform cubic B-splines: the weights of the four control points around a position.
#pragma once

#include <cstdint>

namespace voxswap {

template <class Real>
struct CubicWeights {
  std::int64_t first = 0;  // control point with the first weight
  Real weight[4] = {};
};

// `position`: in distances between control points, from the second of `count` on; clamped to those that have
// four control points around them. REQUIRES: count >= 4.
template <class Real>
constexpr CubicWeights<Real> cubic_weights(double position, std::int64_t count) {
  std::int64_t cell = position > 0 ? static_cast<std::int64_t>(position) : 0;
  if (cell > count - 4) cell = count - 4;
  double t = position - static_cast<double>(cell);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  const double s = 1 - t;
  return {cell,
          {static_cast<Real>(s * s * s / 6), static_cast<Real>((3 * t * t * t - 6 * t * t + 4) / 6),
           static_cast<Real>((3 * s * s * s - 6 * s * s + 4) / 6), static_cast<Real>(t * t * t / 6)}};
}

}  // namespace voxswap
