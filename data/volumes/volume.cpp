#include "data/volumes/volume.h"

#include <cmath>

#include "base/text.h"

namespace voxswap::data {

namespace {

template <std::size_t N>
bool near(const std::array<double, N>& a, const std::array<double, N>& b, double tolerance) {
  for (std::size_t i = 0; i < N; ++i) {
    if (!(std::fabs(a[i] - b[i]) <= tolerance)) return false;
  }
  return true;
}

// Short text for messages: file formats keep about seven digits, so six decimals hide only their rounding.
std::string readable(double value) {
  const double rounded = std::round(value * 1e6) / 1e6;
  return number(rounded == 0 ? 0.0 : rounded);
}

}  // namespace

bool same_grid(const Geometry& a, const Geometry& b) {
  return a.size == b.size && near(a.spacing, b.spacing, 1e-4) && near(a.origin, b.origin, 1e-4) &&
         near(a.direction, b.direction, 1e-5);
}

std::string describe(const Geometry& geometry) {
  std::string text = format(
      "{}x{}x{} voxels of {}x{}x{} mm at ({}, {}, {})", geometry.size[0], geometry.size[1], geometry.size[2],
      readable(geometry.spacing[0]), readable(geometry.spacing[1]), readable(geometry.spacing[2]),
      readable(geometry.origin[0]), readable(geometry.origin[1]), readable(geometry.origin[2]));
  if (!near(geometry.direction, Geometry{}.direction, 1e-6)) {
    text += ", axes";
    for (std::size_t axis = 0; axis < 3; ++axis) {
      text += format(" ({}, {}, {})", readable(geometry.direction[axis]),
                     readable(geometry.direction[3 + axis]), readable(geometry.direction[6 + axis]));
    }
  }
  return text;
}

}  // namespace voxswap::data
