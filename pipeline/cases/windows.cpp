#include "pipeline/cases/windows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/shape.h"
#include "data/volumes/channel_loops.h"

namespace voxswap::pipeline {

namespace {

std::vector<std::int64_t> even_starts(std::int64_t length, std::int64_t window, double overlap) {
  const double step = std::max(static_cast<double>(window) * (1 - overlap), 1.0);
  const auto gaps = static_cast<std::int64_t>(std::ceil(static_cast<double>(length - window) / step));
  std::vector<std::int64_t> starts{0};
  for (std::int64_t i = 1; i <= gaps; ++i)
    starts.push_back(std::llround(static_cast<double>((length - window) * i) / static_cast<double>(gaps)));
  return starts;
}

WindowAxis window_axis(std::int64_t length, std::int64_t window, double overlap) {
  std::vector<double> gaussian, sum(index(length));
  for (std::int64_t i = 0; i < window; ++i) {
    const double away = (static_cast<double>(i) - static_cast<double>(window - 1) / 2) /
                        (static_cast<double>(window) * window_sigma);
    gaussian.push_back(std::exp(-away * away / 2));
  }
  WindowAxis axis{even_starts(length, window, overlap), {}};
  for (const std::int64_t start : axis.starts) {
    for (std::int64_t i = 0; i < window; ++i) sum[index(start + i)] += gaussian[index(i)];
  }
  for (const std::int64_t start : axis.starts) {
    std::vector<float>& weights = axis.weights.emplace_back();
    for (std::int64_t i = 0; i < window; ++i)
      weights.push_back(static_cast<float>(gaussian[index(i)] / sum[index(start + i)]));
  }
  return axis;
}

}  // namespace

std::size_t Windows::count() const {
  return axes[0].starts.size() * axes[1].starts.size() * axes[2].starts.size();
}

VoxelBox Windows::box(std::size_t number) const {
  const std::size_t nx = axes[0].starts.size(), ny = axes[1].starts.size();
  return {{axes[0].starts[number % nx], axes[1].starts[number / nx % ny], axes[2].starts[number / (nx * ny)]},
          window};
}

Windows make_windows(const Size3& volume, const Size3& window, double overlap) {
  Windows windows{volume, window, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    assert(window[axis] >= 1 && window[axis] <= volume[axis]);
    windows.axes[axis] = window_axis(volume[axis], window[axis], overlap);
  }
  return windows;
}

WindowSums::WindowSums(const Size3& volume, const Size3& window, std::int64_t channels, Scratch& scratch)
    : volume_(volume),
      window_(window),
      channels_(channels),
      sums_(volume[0] * volume[1] * channels, window[2], scratch) {}

void WindowSums::add(const VoxelBox& window, std::int64_t first, std::span<const float> planes) {
  const std::int64_t plane = window_[0] * window_[1] * channels_;
  assert(std::ssize(planes) % plane == 0);
  for (std::int64_t z = window.start[2] + first; !planes.empty();) {
    const std::int64_t count = std::min(std::ssize(planes) / plane, sums_.at_once(plane));
    add_planes(window, z, planes.first(index(count * plane)));
    sums_.release();
    planes = planes.subspan(index(count * plane));
    z += count;
  }
}

GaussianSums::GaussianSums(Windows windows, std::int64_t channels, Scratch& scratch)
    : WindowSums(windows.volume, windows.window, channels, scratch), windows_(std::move(windows)) {}

std::vector<VoxelBox> GaussianSums::layer() const {
  const std::size_t layers = windows_.axes[2].starts.size(), each = windows_.count() / layers;
  std::vector<VoxelBox> boxes;
  for (std::size_t i = 0; layer_ < layers && i < each; ++i) boxes.push_back(windows_.box(layer_ * each + i));
  return boxes;
}

void GaussianSums::add_planes(const VoxelBox& window, std::int64_t first, std::span<const float> planes) {
  const auto weights = [&](std::size_t axis) -> const std::vector<float>& {
    const std::vector<std::int64_t>& starts = windows_.axes[axis].starts;
    return windows_.axes[axis]
        .weights[index(std::lower_bound(starts.begin(), starts.end(), window.start[axis]) - starts.begin())];
  };
  const std::vector<float>&wx = weights(0), &wy = weights(1), &wz = weights(2);
  const std::size_t voxel = index(channels_), row = index(window_[0]) * voxel;
  const auto add_rows = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t z = first + static_cast<std::int64_t>(i) / window_[1],
                         y = static_cast<std::int64_t>(i) % window_[1];
      const std::int64_t at = (window.start[1] + y) * volume_[0] + window.start[0];
      data::add_weighted(planes.subspan(i * row, row), wx, wy[index(y)] * wz[index(z - window.start[2])],
                         &sums_.planes(z)[index(at) * voxel]);
    }
  };
  parallel_ranges(planes.size() / row, data::elements_per_thread / row, add_rows);
}

void GaussianSums::finish_layer(const TakePlanes& take) {
  const std::vector<std::int64_t>& starts = windows_.axes[2].starts;
  ++layer_;  // windows leave no gap
  sums_.take_until(layer_ == starts.size() ? volume_[2] : starts[layer_],
                   [&](std::int64_t, std::span<float> planes) { take(planes); });
}

void stitch(const Windows& windows, std::int64_t channels,
            const std::function<std::vector<float>(const VoxelBox&)>& compute, const TakePlanes& take,
            Scratch scratch) {
  if (windows.count() == 1) return take(compute(windows.box(0)));
  GaussianSums sums(windows, channels, scratch);
  for (std::vector<VoxelBox> layer = sums.layer(); !layer.empty(); layer = sums.layer()) {
    for (const VoxelBox& box : layer) sums.add(box, 0, compute(box));
    sums.finish_layer(take);
  }
}

std::vector<float> stitch(const Windows& windows, std::int64_t channels,
                          const std::function<std::vector<float>(const VoxelBox&)>& compute) {
  if (windows.count() == 1) return compute(windows.box(0));
  std::vector<float> whole;
  whole.reserve(index(voxels_in(windows.volume) * channels));
  stitch(windows, channels, compute,
         [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

TakePlanes planes_of(const VoxelBox& box, const Size3& size, std::int64_t channels, const TakePlanes& take) {
  return [=, at = std::int64_t{0}](std::span<const float> planes) mutable {
    const std::int64_t plane = size[0] * size[1] * channels, row = box.size[0] * channels;
    std::vector<float> part;
    for (; !planes.empty(); planes = planes.subspan(index(plane)), ++at) {
      if (at < box.start[2] || at >= box.start[2] + box.size[2]) continue;
      for (std::int64_t y = 0; y < box.size[1]; ++y) {
        const auto first = planes.begin() + ((box.start[1] + y) * size[0] + box.start[0]) * channels;
        part.insert(part.end(), first, first + row);
      }
      if (part.size() < data::elements_per_thread) continue;
      take(part);
      part.clear();
    }
    if (!part.empty()) take(part);
  };
}

}  // namespace voxswap::pipeline
