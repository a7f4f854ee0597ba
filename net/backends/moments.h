// Mean and sum of squared differences from it, merged plane by plane (Chan, Golub & LeVeque 1979). The result
// does not depend on slabs and suffers no cancellation.
#pragma once

#include <cmath>

namespace voxswap::net {

struct Moments {
  double planes = 0, mean = 0, squares = 0;

  void add(double plane_mean, double plane_squares, double plane_voxels) {
    const double difference = plane_mean - mean;
    mean += difference / (planes + 1);
    squares += plane_squares + difference * difference * plane_voxels * (planes / (planes + 1));
    planes += 1;
  }
  double inverse_deviation(double plane_voxels, double epsilon) const {
    return 1 / std::sqrt(squares / (planes * plane_voxels) + epsilon);
  }
};

}  // namespace voxswap::net
