// Filters along the axes of a volume of one channel: Gaussian blur and linear resampling. Each works on whole
// planes, which parallel() (passes.h) divides among threads.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/shape.h"
#include "net/backends/onednn/lanes.h"
#include "net/graph/axes.h"
#include "net/graph/drawn_numbers.h"

namespace voxswap::net::onednn {

struct Volume {
  std::int64_t width, height, depth;
  explicit Volume(const Shape& shape) : width(shape[3]), height(shape[2]), depth(shape[1]) {}
  std::int64_t plane() const { return width * height; }
  std::int64_t voxels() const { return plane() * depth; }
};

VOXSWAP_INLINE std::int64_t within(std::int64_t at, std::int64_t side) {
  return at < 0 ? 0 : at < side ? at : side - 1;
}

constexpr std::int64_t most_taps = drawn::blur_radius(drawn::most_blur) + 1;

struct Gaussian {
  std::int64_t radius;
  float weight[most_taps];  // of the middle, then outwards

  explicit Gaussian(double sigma) : radius(drawn::blur_radius(sigma)) {
    double exact[most_taps], sum = 0;
    for (std::int64_t k = 0; k <= radius; ++k) {
      exact[k] = std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
      sum += k == 0 ? exact[k] : 2 * exact[k];
    }
    for (std::int64_t k = 0; k <= radius; ++k) weight[k] = static_cast<float>(exact[k] / sum);
  }

  // to[i] = the weighted sum of rows `at` +- k, of `side` rows of `count` numbers.
  template <class Floats>
  VOXSWAP_INLINE void across(const float* rows, std::int64_t side, std::int64_t at, std::int64_t count,
                             float* to) const {
    std::int64_t i = 0;
    for (; i + lane_count <= count; i += lane_count) sum_at<Floats>(rows, side, at, count, i, to);
    for (; i < count; ++i) sum_at<float>(rows, side, at, count, i, to);
  }
  // to[i] = the weighted sum of row[i +- k].
  template <class Floats>
  VOXSWAP_INLINE void along(const float* row, std::int64_t count, float* to) const {
    std::int64_t i = 0;
    for (; i < count && i < radius; ++i) edge(row, count, i, to);
    for (; i + lane_count + radius <= count; i += lane_count) {
      Floats sum = load<Floats>(row + i) * weight[0];
      for (std::int64_t k = 1; k <= radius; ++k)
        sum += (load<Floats>(row + i - k) + load<Floats>(row + i + k)) * weight[k];
      store(to + i, sum);
    }
    for (; i < count; ++i) edge(row, count, i, to);
  }

 private:
  template <class V>
  VOXSWAP_INLINE void sum_at(const float* rows, std::int64_t side, std::int64_t at, std::int64_t count,
                             std::int64_t i, float* to) const {
    V sum = load<V>(rows + at * count + i) * weight[0];
    for (std::int64_t k = 1; k <= radius; ++k)
      sum += (load<V>(rows + within(at - k, side) * count + i) +
              load<V>(rows + within(at + k, side) * count + i)) *
             weight[k];
    store(to + i, sum);
  }
  VOXSWAP_INLINE void edge(const float* row, std::int64_t count, std::int64_t i, float* to) const {
    float sum = row[i] * weight[0];
    for (std::int64_t k = 1; k <= radius; ++k)
      sum += (row[within(i - k, count)] + row[within(i + k, count)]) * weight[k];
    to[i] = sum;
  }
};

struct BlurAlongZ {
  Volume volume;
  const Gaussian& gaussian;
  const float* x;
  float* y;
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t z = begin; z < end; ++z)
      gaussian.across<Floats>(x, volume.depth, z, volume.plane(), y + z * volume.plane());
  }
};
struct BlurPlanes {
  Volume volume;
  const Gaussian& gaussian;
  const float* x;
  float *y, *rows;  // a row of scratch per plane
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t z = begin; z < end; ++z)
      for (std::int64_t line = 0; line < volume.height; ++line) {
        float* const row = rows + z * volume.width;
        gaussian.across<Floats>(x + z * volume.plane(), volume.height, line, volume.width, row);
        gaussian.along<Floats>(row, volume.width, y + z * volume.plane() + line * volume.width);
      }
  }
};

template <class Floats>
VOXSWAP_INLINE void mix(const float* a, const float* b, float part, std::int64_t count, float* to) {
  std::int64_t i = 0;
  for (; i + lane_count <= count; i += lane_count)
    store(to + i, Floats(load<Floats>(a + i) * (1 - part) + load<Floats>(b + i) * part));
  for (; i < count; ++i) to[i] = a[i] * (1 - part) + b[i] * part;
}

// Resamples planes of a volume linearly: a plane of the input's size first, then a row, then its voxels.
struct ResamplePlanes {
  Volume from, to;
  const float* x;
  float* y;
  float* scratch;
  std::int64_t each;  // floats of scratch per plane of the result: scratch_floats() of the larger volume

  static std::int64_t scratch_floats(const Volume& fine) { return fine.plane() + 4 * fine.width; }

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const LinearAxis along_x{from.width, to.width}, along_y{from.height, to.height},
        along_z{from.depth, to.depth};
    for (std::int64_t z = begin; z < end; ++z) {
      float* const plane = scratch + z * each;
      float* const row = plane + from.plane();
      auto* const low = reinterpret_cast<std::int32_t*>(row + from.width);
      auto* const high = low + to.width;
      auto* const part = reinterpret_cast<float*>(high + to.width);
      for (std::int64_t i = 0; i < to.width; ++i) {
        const LinearAxis::Between at = along_x.between(i);
        low[i] = static_cast<std::int32_t>(at.low);
        high[i] = static_cast<std::int32_t>(at.high);
        part[i] = static_cast<float>(at.of_high);
      }
      const LinearAxis::Between in_z = along_z.between(z);
      mix<Floats>(x + in_z.low * from.plane(), x + in_z.high * from.plane(), static_cast<float>(in_z.of_high),
                  from.plane(), plane);
      for (std::int64_t line = 0; line < to.height; ++line) {
        const LinearAxis::Between in_y = along_y.between(line);
        mix<Floats>(plane + in_y.low * from.width, plane + in_y.high * from.width,
                    static_cast<float>(in_y.of_high), from.width, row);
        float* const out = y + z * to.plane() + line * to.width;
        for (std::int64_t i = 0; i < to.width; ++i)
          out[i] = row[low[i]] * (1 - part[i]) + row[high[i]] * part[i];
      }
    }
  }
};

}  // namespace voxswap::net::onednn
