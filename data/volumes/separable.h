// Separable linear filters: Gaussian blur, and the smoothing of a coarser grid.
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

// A normalised Gaussian of deviation `sigma` voxels, cut at 4 sigma, the edge voxel repeated beyond the edge.
// REQUIRES: sigma > 0.
Band gaussian_band(std::int64_t count, double sigma);
// Linear resampling with aligned voxel centres, as in transforms.h.
Band linear_band(std::int64_t from, std::int64_t to);

// A D,H,W array of `size` under the three bands; the result has their numbers of outputs.
std::vector<float> filtered(const std::vector<float>& voxels, const Size3& size, const Band& x, const Band& y,
                            const Band& z);

}  // namespace voxswap::data
