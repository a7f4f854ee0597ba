// Rounds sums to the type of the volume, in plain C++ that the compiler vectorises. Included only by the
// sources of the instruction sets (volume_rows.h), and where weights are rounded.
#pragma once

#include "net/backends/convolution/pack.h"

namespace voxswap::net::convolution {
namespace {

inline void round_to(float* to, float value) {
  *to = value;
}
// To the nearest bf16, ties to even; NaN stays NaN.
inline void round_to(Bf16* to, float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = (bits + ((bits >> 16 & 1u) + 0x7fffu)) >> 16, quiet = bits >> 16 | 0x40u;
  to->bits = static_cast<std::uint16_t>(value != value ? quiet : rounded);
}

// y = sums + bias (+ start), of `lanes` channels that are whole registers' or the last ones.
template <int lanes, class T>
inline void finish_lanes(T* y, const float* sums, const float* bias, const T* start, std::int64_t count) {
  if (count == lanes && start == nullptr) {
    for (int i = 0; i < lanes; ++i) round_to(y + i, sums[i] + bias[i]);
  } else if (start == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) round_to(y + i, sums[i] + bias[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) round_to(y + i, sums[i] + bias[i] + widened(start[i]));
  }
}

}  // namespace
}  // namespace voxswap::net::convolution
