#include "data/volumes/channel_loops.h"

#include <algorithm>

#include "base/float16.h"
#include "base/parallel.h"
#include "base/shape.h"

namespace voxswap::data {

namespace {

void add_row(const float* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

void add(std::span<const float> values, std::span<float> sum) {
  parallel_ranges(values.size(), elements_per_thread, [&](std::size_t begin, std::size_t end) {
    add_row(&values[begin], end - begin, &sum[begin]);
  });
}

void divide(std::span<float> values, float divisor) {
  parallel_ranges(values.size(), elements_per_thread, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] /= divisor;
  });
}

void add_mirrored(std::span<const float> planes, std::int64_t first, const Size3& size, std::int64_t channels,
                  const std::array<bool, 3>& flipped, std::span<float> sum) {
  const std::size_t voxel = index(channels), row = index(size[0]) * voxel;
  parallel_ranges(planes.size() / row, elements_per_thread / row, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::int64_t z = first + static_cast<std::int64_t>(i) / size[1],
                   y = static_cast<std::int64_t>(i) % size[1];
      if (flipped[2]) z = size[2] - 1 - z;
      if (flipped[1]) y = size[1] - 1 - y;
      const float* from = &planes[i * row];
      float* to = &sum[index(z * size[1] + y) * row];
      if (!flipped[0]) {
        add_row(from, row, to);
        continue;
      }
      to += row;
      for (std::int64_t x = 0; x < size[0]; ++x, from += voxel) add_row(from, voxel, to -= voxel);
    }
  });
}

void add_weighted(std::span<const float> row, std::span<const float> weights, float factor, float* sum) {
  const std::size_t channels = row.size() / weights.size();
  const float* from = row.data();
  for (const float one : weights) {
    const float weight = one * factor;
    for (std::size_t c = 0; c < channels; ++c) sum[c] += weight * from[c];
    from += channels;
    sum += channels;
  }
}

void add_weighted_in_half(std::span<const float> row, std::span<const float> weights, float* sum) {
  const std::size_t channels = row.size() / weights.size();
  const float* from = row.data();
  for (const float weight : weights) {
    for (std::size_t c = 0; c < channels; ++c) sum[c] = rounded_to_float16(sum[c] + from[c] * weight);
    from += channels;
    sum += channels;
  }
}

void round_to_half(std::span<float> values) {
  float* const value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) value[i] = rounded_to_float16(value[i]);
}

Largest largest_channel(std::span<const float> voxel, float lowest) {
  constexpr std::size_t lanes = 16;
  std::size_t c = 0;
  float most = lowest;
  if (voxel.size() >= 2 * lanes) {
    std::array<float, lanes> large;
    large.fill(lowest);
    for (; c + lanes <= voxel.size(); c += lanes)
      for (std::size_t l = 0; l < lanes; ++l) large[l] = voxel[c + l] > large[l] ? voxel[c + l] : large[l];
    for (const float one : large) most = one > most ? one : most;
  }
  for (; c < voxel.size(); ++c) most = voxel[c] > most ? voxel[c] : most;
  if (!(most > lowest)) return {0, lowest};
  return {static_cast<std::size_t>(std::find(voxel.begin(), voxel.end(), most) - voxel.begin()), most};
}

}  // namespace voxswap::data
