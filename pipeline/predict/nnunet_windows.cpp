#include "pipeline/predict/nnunet_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float16.h"
#include "base/shape.h"

namespace voxswap::pipeline {

namespace {

float as_half(float value) {
  return from_float16(to_float16(value));
}

// One factor of the Gaussian, up to its scale; 0 beyond SciPy's radius of 4 sigma.
std::vector<double> gaussian(std::int64_t side) {
  const double sigma = static_cast<double>(side) * window_sigma;
  const auto radius = static_cast<std::int64_t>(4 * sigma + 0.5);
  std::vector<double> factors;
  for (std::int64_t i = 0; i < side; ++i) {
    const std::int64_t away = i - side / 2;
    const auto distance = static_cast<double>(away);
    factors.push_back(std::abs(away) > radius ? 0 : std::exp(-0.5 / (sigma * sigma) * distance * distance));
  }
  return factors;
}

// Rounds halves to even, like NumPy.
std::vector<std::int64_t> starts(std::int64_t length, std::int64_t window, double overlap) {
  const double step = static_cast<double>(window) * (1 - overlap);
  const auto gaps = static_cast<std::int64_t>(std::ceil(static_cast<double>(length - window) / step));
  std::vector<std::int64_t> result{0};
  for (std::int64_t i = 1; i <= gaps; ++i)
    result.push_back(std::llrint(static_cast<double>(length - window) / static_cast<double>(gaps) *
                                 static_cast<double>(i)));
  return result;
}

// Sums over windows of a slab of planes as deep as a window.
struct Sums {
  std::vector<float> weights, logits;  // D,H,W and D,H,W,channels, rounded to float16

  // Adds a window whose first plane is the slab's; `place`: index of its first voxel.
  void add(const std::vector<float>& part, const std::vector<float>& of_window, const Size3& window,
           const Size3& volume, std::int64_t place, std::int64_t channels) {
    const float *value = part.data(), *weight = of_window.data();
    for (std::int64_t z = 0; z < window[2]; ++z)
      for (std::int64_t y = 0; y < window[1]; ++y) {
        const std::int64_t row = place + (z * volume[1] + y) * volume[0];
        for (std::int64_t v = row; v < row + window[0]; ++v, ++weight) {
          weights[index(v)] = as_half(weights[index(v)] + *weight);
          for (std::int64_t c = 0; c < channels; ++c) {
            float& sum = logits[index(v * channels + c)];
            sum = as_half(sum + *value++ * *weight);
          }
        }
      }
  }

  // The means of the first voxels, which are then removed.
  std::vector<float> take(std::int64_t voxels, std::int64_t channels) {
    std::vector<float> means;
    means.reserve(index(voxels * channels));
    for (std::int64_t i = 0; i < voxels * channels; ++i)
      means.push_back(as_half(logits[index(i)] / weights[index(i / channels)]));
    std::fill(std::move(weights.begin() + voxels, weights.end(), weights.begin()), weights.end(), 0.0F);
    std::fill(std::move(logits.begin() + voxels * channels, logits.end(), logits.begin()), logits.end(),
              0.0F);
    return means;
  }
};

}  // namespace

std::vector<float> nnunet_weights(const Size3& window) {
  const std::vector<double> x = gaussian(window[0]), y = gaussian(window[1]), z = gaussian(window[2]);
  constexpr double largest = 10;
  std::vector<float> weights;
  float least = std::numeric_limits<float>::infinity();
  for (const double wz : z)
    for (const double wy : y)
      for (const double wx : x) {
        weights.push_back(as_half(static_cast<float>(wz * wy * wx * largest)));
        if (weights.back() > 0) least = std::min(least, weights.back());
      }
  std::replace(weights.begin(), weights.end(), 0.0F, least);
  return weights;
}

void stitch_as_nnunet(const Size3& volume, const Size3& window, double overlap, std::int64_t channels,
                      const std::function<std::vector<float>(const VoxelBox&)>& compute,
                      const TakePlanes& take) {
  const std::vector<float> weights = nnunet_weights(window);
  const std::vector<std::int64_t> xs = starts(volume[0], window[0], overlap),
                                  ys = starts(volume[1], window[1], overlap),
                                  zs = starts(volume[2], window[2], overlap);
  const std::int64_t plane = volume[0] * volume[1];
  Sums sums{std::vector<float>(index(plane * window[2])),
            std::vector<float>(index(plane * window[2] * channels))};
  for (std::size_t layer = 0; layer < zs.size(); ++layer) {
    for (const std::int64_t y : ys)
      for (const std::int64_t x : xs)
        sums.add(compute({{x, y, zs[layer]}, window}), weights, window, volume, y * volume[0] + x, channels);
    const std::int64_t done = layer + 1 == zs.size() ? window[2] : zs[layer + 1] - zs[layer];
    take(sums.take(done * plane, channels));
  }
}

}  // namespace voxswap::pipeline
