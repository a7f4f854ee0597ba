// Sums over each plane of a volume, in double, and over planes in order. Shared by the operations on whole
// volumes and those on slabs (net/ops/plane_sums.cpp), so that both give identical results.
#pragma once

#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

// All of these take a plane_layout(). Planes are counted through all samples.
inline std::int64_t plane_sums_bytes(const RowLayout& layout, std::int64_t kinds) {
  return layout.samples * layout.channels * kinds * static_cast<std::int64_t>(sizeof(double));
}
// Index in [N,D,C] of plane z of `instance` = n * C + c.
inline std::int64_t plane_sum_index(const RowLayout& layout, std::int64_t instance, std::int64_t z) {
  const std::int64_t n = instance / layout.channels, c = instance % layout.channels;
  return (n * layout.sharing + z) * layout.channels + c;
}

// to[N,D,C,kinds]; finish(plane, channel, sums) converts a plane's sums.
template <std::int64_t kinds, class Body, class Finish>
void sum_planes(const RowLayout& layout, const Body& body, double* scratch, double* to, Finish finish) {
  sum_over_voxels<kinds>(layout, body, scratch, [&](std::int64_t plane, std::int64_t channel, double* sums) {
    finish(plane, channel, sums);
    double* at = to + (plane * layout.channels + channel) * kinds;
    for (std::int64_t k = 0; k < kinds; ++k) at[k] = sums[k];
  });
}

// [N,D,C,kinds] -> [N,C,kinds]
inline void add_planes(const RowLayout& layout, std::int64_t kinds, const double* planes, float* to) {
  for (std::int64_t i = 0; i < layout.samples / layout.sharing * layout.channels; ++i)
    for (std::int64_t k = 0; k < kinds; ++k) {
      double sum = 0;
      for (std::int64_t z = 0; z < layout.sharing; ++z)
        sum += planes[plane_sum_index(layout, i, z) * kinds + k];
      to[i * kinds + k] = static_cast<float>(sum);
    }
}

// [N,D,C,1] -> [C]
inline void add_channels(const RowLayout& layout, const double* planes, float* to) {
  const std::int64_t samples = layout.samples / layout.sharing;
  for (std::int64_t c = 0; c < layout.channels; ++c) {
    double sum = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      double sample = 0;
      for (std::int64_t z = 0; z < layout.sharing; ++z)
        sample += planes[plane_sum_index(layout, n * layout.channels + c, z)];
      sum += sample;
    }
    to[c] = static_cast<float>(sum);
  }
}

}  // namespace voxswap::net::onednn
