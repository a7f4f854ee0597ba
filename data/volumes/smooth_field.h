// Smooth random fields over space: cubic B-splines with independent normal coefficients on a lattice.
//
// A field is a pure function of its random stream and the position in millimetres, so the same subject can be
// sampled on any grid. It has mean 0, approximately the requested variance, and two continuous derivatives.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/philox.h"

namespace voxswap::data {

class SmoothField {
 public:
  // Over [0, extent] in mm, with features of about `scale` mm. Coefficients are clamped to +-limit.
  SmoothField(const Philox& random, const std::array<double, 3>& extent, double scale, double deviation = 1,
              double limit = std::numeric_limits<double>::infinity());

  // Values at x = first, first + step, … of a row at one y and z.
  void row(double first, double step, double y, double z, std::span<float> values) const;

  const std::array<std::int64_t, 3>& nodes() const { return nodes_; }       // along x, y, z
  const std::vector<float>& coefficients() const { return coefficients_; }  // of the nodes, x varies fastest
  double scale() const { return scale_; }                                   // mm between nodes

 private:
  std::array<std::int64_t, 3> nodes_;
  double scale_;
  std::vector<float> coefficients_;
};

}  // namespace voxswap::data
