// A phantom subject as computed tomography: Hounsfield units of air, skull, brain and a tumour with contrast
// agent.
#include <algorithm>
#include <cmath>

#include "data/phantoms/phantom_layouts.h"

namespace voxswap::data {

namespace {

constexpr float air = -1000, bone = 900, brain = 35;
constexpr double skull = 8;           // mm
constexpr double from_contrast = 30;  // approximate range of t1ce in Hounsfield units

// Whether a brain voxel is within this many voxels along each axis.
bool is_near(const Image& image, const Size3& at, const Size3& reach) {
  Size3 low, high;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = std::max<std::int64_t>(0, at[axis] - reach[axis]);
    high[axis] = std::min(image.geometry.size[axis] - 1, at[axis] + reach[axis]);
  }
  for (std::int64_t z = low[2]; z <= high[2]; ++z)
    for (std::int64_t y = low[1]; y <= high[1]; ++y)
      for (std::int64_t x = low[0]; x <= high[0]; ++x)
        if (image.at(x, y, z) != 0) return true;
  return false;
}

}  // namespace

Image hounsfield(const Volume& volume) {
  const Image& t1ce = volume.channels[1];
  double sum = 0, count = 0;
  for (const float value : t1ce.voxels) {
    sum += value;
    count += value == 0 ? 0 : 1;
  }
  const double mean = count == 0 ? 1 : sum / count;
  Size3 reach;
  for (std::size_t axis = 0; axis < 3; ++axis)
    reach[axis] = std::max<std::int64_t>(1, std::llround(skull / t1ce.geometry.spacing[axis]));
  Image ct{t1ce.geometry, std::vector<float>(t1ce.voxels.size(), air)};
  std::size_t i = 0;
  const auto& [nx, ny, nz] = t1ce.geometry.size;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x, ++i) {
        if (t1ce.voxels[i] != 0)
          ct.voxels[i] = brain + static_cast<float>(std::round(from_contrast * (t1ce.voxels[i] / mean - 1)));
        else if (is_near(t1ce, {x, y, z}, reach))
          ct.voxels[i] = bone;
      }
  return ct;
}

}  // namespace voxswap::data
