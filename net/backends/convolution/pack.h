// Rows of x beside one another with zeros where there is no volume, P channels of every voxel, as floats.
// Included by the sources of the instruction sets alone (weight_rows.h).
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {
namespace {

struct Bf16 {  // the upper half of a float
  std::uint16_t bits;
};

inline float widened(float value) {
  return value;
}
inline float widened(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

// `count` positions from `first` on, of a row of `side` voxels of so many elements.
template <int P, class T>
inline void pack_floats(float* to, const T* row, std::int64_t voxel, std::int64_t channels,
                        std::int64_t first, std::int64_t side, std::int64_t count) {
  for (std::int64_t u = 0; u < count; ++u, to += P) {
    const bool inside = first + u >= 0 && first + u < side;
    const T* from = row + (first + u) * voxel;
    if (inside && channels >= P) {
      for (int i = 0; i < P; ++i) to[i] = widened(from[i]);
    } else {
      for (int i = 0; i < P; ++i) to[i] = inside && i < channels ? widened(from[i]) : 0.0F;
    }
  }
}

}  // namespace
}  // namespace voxswap::net::convolution
