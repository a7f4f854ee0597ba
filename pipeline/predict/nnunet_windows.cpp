#include "pipeline/predict/nnunet_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/float16.h"
#include "base/parallel.h"
#include "base/shape.h"
#include "data/volumes/channel_loops.h"

namespace voxswap::pipeline {

namespace {

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
  const double step = std::max(static_cast<double>(window) * (1 - overlap), 1.0);
  const auto gaps = static_cast<std::int64_t>(std::ceil(static_cast<double>(length - window) / step));
  std::vector<std::int64_t> result{0};
  for (std::int64_t i = 1; i <= gaps; ++i)
    result.push_back(std::llrint(static_cast<double>(length - window) / static_cast<double>(gaps) *
                                 static_cast<double>(i)));
  return result;
}

}  // namespace

std::vector<float> nnunet_weights(const Size3& window) {
  const std::vector<double> x = gaussian(window[0]), y = gaussian(window[1]), z = gaussian(window[2]);
  constexpr double largest = 10;
  std::vector<float> weights;
  float least = std::numeric_limits<float>::infinity();
  for (const double wz : z)
    for (const double wy : y)
      for (const double wx : x) {
        weights.push_back(rounded_to_float16(static_cast<float>(wz * wy * wx * largest)));
        if (weights.back() > 0) least = std::min(least, weights.back());
      }
  std::replace(weights.begin(), weights.end(), 0.0F, least);
  return weights;
}

NnunetSums::NnunetSums(const Size3& volume, const Size3& window, double overlap, std::int64_t channels,
                       Scratch& scratch)
    : WindowSums(volume, window, channels, scratch),
      of_window_(nnunet_weights(window)),
      weights_(volume[0] * volume[1], window[2], scratch) {
  for (std::size_t axis = 0; axis < 3; ++axis) starts_[axis] = starts(volume[axis], window[axis], overlap);
}

std::vector<VoxelBox> NnunetSums::layer() const {
  std::vector<VoxelBox> boxes;
  if (layer_ == starts_[2].size()) return boxes;
  for (const std::int64_t y : starts_[1])
    for (const std::int64_t x : starts_[0]) boxes.push_back({{x, y, starts_[2][layer_]}, window_});
  return boxes;
}

void NnunetSums::add_planes(const VoxelBox& window, std::int64_t first, std::span<const float> planes) {
  const std::size_t width = index(window_[0]), row = width * index(channels_);
  const auto add_rows = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t z = first + static_cast<std::int64_t>(i) / window_[1],
                         y = static_cast<std::int64_t>(i) % window_[1];
      const std::size_t at = index((window.start[1] + y) * volume_[0] + window.start[0]);
      const std::span factors =
          std::span(of_window_).subspan(index((z - window.start[2]) * window_[1] + y) * width, width);
      const std::span<float> weights = weights_.planes(z).subspan(at, width);
      for (std::size_t x = 0; x < width; ++x) weights[x] = rounded_to_float16(weights[x] + factors[x]);
      data::add_weighted_in_half(planes.subspan(i * row, row), factors,
                                 &sums_.planes(z)[at * index(channels_)]);
    }
  };
  parallel_ranges(planes.size() / row, data::elements_per_thread / row, add_rows);
  weights_.release();
}

void NnunetSums::finish_layer(const TakePlanes& take) {
  ++layer_;
  const std::int64_t end = layer_ == starts_[2].size() ? volume_[2] : starts_[2][layer_];
  sums_.take_until(end, [&](std::int64_t first, std::span<float> logits) {
    const std::size_t voxel = index(channels_);
    const std::span<const float> weights =
        weights_.planes(first, std::ssize(logits) / (volume_[0] * volume_[1] * channels_));
    parallel_ranges(weights.size(), data::elements_per_thread / voxel, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from * voxel; i < to * voxel; ++i) logits[i] /= weights[i / voxel];
      data::round_to_half(logits.subspan(from * voxel, (to - from) * voxel));
    });
    take(logits);
  });
  weights_.take_until(end, [](std::int64_t, std::span<float>) {});
}

}  // namespace voxswap::pipeline
