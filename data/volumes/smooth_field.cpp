// Tensor-product B-splines: the lattice is first collapsed to one line for the row's y and z, then evaluated
// with four taps.
#include "data/volumes/smooth_field.h"

#include <algorithm>
#include <cmath>

#include "base/cubic_spline.h"

namespace voxswap::data {

SmoothField::SmoothField(const Philox& random, const std::array<double, 3>& extent, double scale,
                         double deviation, double limit)
    : scale_(scale) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    nodes_[axis] = static_cast<std::int64_t>(std::ceil(extent[axis] / scale)) + 3;
  }
  coefficients_.resize(static_cast<std::size_t>(nodes_[0] * nodes_[1] * nodes_[2]));
  // The mean over a cell of the sum of squared weights is (151/315)^3 for independent coefficients.
  const double unit = deviation * std::pow(315.0 / 151.0, 1.5);
  for (std::size_t i = 0; i < coefficients_.size(); ++i) {
    coefficients_[i] = static_cast<float>(std::clamp(unit * random.normal(i), -limit, limit));
  }
}

void SmoothField::row(double first, double step, double y, double z, std::span<float> values) const {
  const auto in_y = cubic_weights<float>(y / scale_, nodes_[1]),
             in_z = cubic_weights<float>(z / scale_, nodes_[2]);
  std::vector<float> collapsed(static_cast<std::size_t>(nodes_[0]), 0.0f);
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const float weight = in_z.weight[k] * in_y.weight[j];
      const float* source = &coefficients_[static_cast<std::size_t>(
          ((in_z.first + k) * nodes_[1] + in_y.first + j) * nodes_[0])];
      for (std::size_t i = 0; i < collapsed.size(); ++i) collapsed[i] += weight * source[i];
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto in_x = cubic_weights<float>((first + step * static_cast<double>(i)) / scale_, nodes_[0]);
    const float* near = &collapsed[static_cast<std::size_t>(in_x.first)];
    values[i] = in_x.weight[0] * near[0] + in_x.weight[1] * near[1] + in_x.weight[2] * near[2] +
                in_x.weight[3] * near[3];
  }
}

}  // namespace voxswap::data
