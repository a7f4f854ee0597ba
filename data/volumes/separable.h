// Separable linear filters, for cubic resampling (spline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

// One axis of a separable filter: output i is the sum of weights[i * taps + k] * input[first[i] + k].
struct Band {
  std::int64_t inputs = 0, taps = 0;
  std::vector<std::int64_t> first;
  std::vector<float> weights;
  std::int64_t outputs() const { return static_cast<std::int64_t>(first.size()); }
};

// Filters a D,H,W array of `size` along the three axes.
std::vector<float> filtered(const std::vector<float>& voxels, const Size3& size, const Band& x, const Band& y,
                            const Band& z);

}  // namespace voxswap::data
