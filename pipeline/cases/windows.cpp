#include "pipeline/cases/windows.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/index.h"

namespace voxswap::pipeline {

namespace {

constexpr double sigma = 1.0 / 8;  // of the Gaussian, in windows: nnU-Net's

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
                        (static_cast<double>(window) * sigma);
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

data::Box Windows::box(std::size_t number) const {
  const std::size_t nx = axes[0].starts.size(), ny = axes[1].starts.size();
  return {{axes[0].starts[number % nx], axes[1].starts[number / nx % ny], axes[2].starts[number / (nx * ny)]},
          window};
}

Windows make_windows(const data::Size3& volume, const data::Size3& window, double overlap) {
  Windows windows{volume, window, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    assert(window[axis] >= 1 && window[axis] <= volume[axis]);
    windows.axes[axis] = window_axis(volume[axis], window[axis], overlap);
  }
  return windows;
}

template <class T>
std::vector<T> cut(const std::vector<T>& voxels, const data::Size3& size, const data::Box& box,
                   std::int64_t channels) {
  assert(static_cast<std::int64_t>(voxels.size()) == size[0] * size[1] * size[2] * channels);
  std::vector<T> part;
  part.reserve(index(box.size[0] * box.size[1] * box.size[2] * channels));
  for (std::int64_t z = 0; z < box.size[2]; ++z) {
    for (std::int64_t y = 0; y < box.size[1]; ++y) {
      const std::int64_t row = ((box.start[2] + z) * size[1] + box.start[1] + y) * size[0] + box.start[0];
      const auto first = voxels.begin() + row * channels;
      part.insert(part.end(), first, first + box.size[0] * channels);
    }
  }
  return part;
}

template std::vector<float> cut(const std::vector<float>&, const data::Size3&, const data::Box&,
                                std::int64_t);
template std::vector<std::uint8_t> cut(const std::vector<std::uint8_t>&, const data::Size3&, const data::Box&,
                                       std::int64_t);
template std::vector<std::int16_t> cut(const std::vector<std::int16_t>&, const data::Size3&, const data::Box&,
                                       std::int64_t);

namespace {

// A window's part of the planes from `first` on, which it lies in.
void add_window(const Windows& windows, std::size_t number, std::int64_t channels,
                const std::vector<float>& part, std::int64_t first, std::vector<float>& planes) {
  const auto& [nx, ny, nz] = windows.volume;
  const data::Size3& side = windows.window;
  const std::size_t columns = windows.axes[0].starts.size(), rows = windows.axes[1].starts.size();
  const std::vector<float>&wx = windows.axes[0].weights[number % columns],
        &wy = windows.axes[1].weights[number / columns % rows],
        &wz = windows.axes[2].weights[number / (columns * rows)];
  const data::Box box = windows.box(number);
  assert(static_cast<std::int64_t>(part.size()) == side[0] * side[1] * side[2] * channels);
  const float* from = part.data();
  for (std::int64_t z = 0; z < side[2]; ++z) {
    for (std::int64_t y = 0; y < side[1]; ++y) {
      const std::int64_t row = (box.start[2] - first + z) * ny + box.start[1] + y;
      float* to = &planes[index((row * nx + box.start[0]) * channels)];
      for (std::int64_t x = 0; x < side[0]; ++x) {
        const float weight = wx[index(x)] * (wy[index(y)] * wz[index(z)]);
        for (std::int64_t c = 0; c < channels; ++c) *to++ += weight * *from++;
      }
    }
  }
}

}  // namespace

void stitch(const Windows& windows, std::int64_t channels,
            const std::function<std::vector<float>(const data::Box&)>& compute, const TakePlanes& take) {
  if (windows.count() == 1) return take(compute(windows.box(0)));
  const std::int64_t plane = windows.volume[0] * windows.volume[1] * channels;
  const std::vector<std::int64_t>& starts = windows.axes[2].starts;
  const std::size_t of_layer = windows.count() / starts.size();
  std::vector<float> planes(index(plane * windows.window[2]));
  for (std::size_t layer = 0; layer < starts.size(); ++layer) {
    for (std::size_t number = layer * of_layer; number < (layer + 1) * of_layer; ++number)
      add_window(windows, number, channels, compute(windows.box(number)), starts[layer], planes);
    const bool is_last = layer + 1 == starts.size();
    const std::int64_t done = is_last ? windows.window[2] : starts[layer + 1] - starts[layer];
    const auto end = planes.begin() + plane * done;  // windows leave no gap
    take({planes.begin(), end});
    std::fill(std::move(end, planes.end(), planes.begin()), planes.end(), 0.0F);
  }
}

std::vector<float> stitch(const Windows& windows, std::int64_t channels,
                          const std::function<std::vector<float>(const data::Box&)>& compute) {
  if (windows.count() == 1) return compute(windows.box(0));
  std::vector<float> whole;
  whole.reserve(index(windows.volume[0] * windows.volume[1] * windows.volume[2] * channels));
  stitch(windows, channels, compute,
         [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

}  // namespace voxswap::pipeline
