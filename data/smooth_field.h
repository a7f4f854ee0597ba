// Smooth random fields over space: cubic B-splines with independent normal coefficients on a lattice.
//
// A field is a pure function of its random stream and of the position in millimetres, so the same subject can
// be sampled on any grid. It has mean 0, variance about 1, and two continuous derivatives.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"

namespace voxswap {

class SmoothField {
 public:
  // Over [0, extent] in mm, with features about as large as `scale` in mm.
  SmoothField(const Philox& random, const std::array<double, 3>& extent, double scale);

  // Values at x = first, first + step, … for one y and z: what makes sampling a whole grid cheap.
  void row(double first, double step, double y, double z, std::span<float> values) const;

 private:
  std::array<std::int64_t, 3> nodes_;
  double scale_;
  std::vector<float> coefficients_;
};

}  // namespace voxswap
