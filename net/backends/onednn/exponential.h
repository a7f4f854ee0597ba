// Vectorised sigmoid and log(1 + exp), accurate to about one unit in the last place of a float.
#pragma once

#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

// exp(x) for x <= 0; NaN stays NaN. x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor polynomial,
// whose remainder r^8 / 8! is below 6e-9; 2^n by the float's exponent bits.
template <class V>
VOXSWAP_INLINE V exp_of_negative(const V& x) {
  using Word = typename Bits<V>::Word;
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: adding it leaves a whole number in the lowest bits
  const V clamped = x < -87.0f ? all_lanes<V>(-87.0f) : x;
  const V shifted = clamped * 1.44269504f + shift;
  const V n = shifted - shift;
  const V r = clamped - n * 0.693359375f + n * 2.12194440e-4f;  // ln 2 in two parts
  V power = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
  power = power * r + 1.0f / 120.0f;
  power = power * r + 1.0f / 24.0f;
  power = power * r + 1.0f / 6.0f;
  power = power * r + 0.5f;
  power = power * r + 1.0f;
  power = power * r + 1.0f;
  const Word exponent = (same_bits<Word>(shifted) - (0x4b400000u - 127u)) << 23;
  return power * same_bits<V>(exponent);
}

template <class V>
VOXSWAP_INLINE V magnitude(const V& x) {
  return x < 0.0f ? -x : x;
}

// 1 / (1 + exp(-x)), given e = exp(-|x|)
template <class V>
VOXSWAP_INLINE V sigmoid_from(const V& x, const V& e) {
  const V one = all_lanes<V>(1.0f);
  return (x < 0.0f ? e : one) / (one + e);
}

// log(1 + u) for u in [0, 1]: 2 artanh(s) with s = u / (2 + u) <= 1/3, whose series loses below 1e-8 after
// s^15.
template <class V>
VOXSWAP_INLINE V log_of_one_plus(const V& u) {
  const V s = u / (u + 2.0f), q = s * s;
  V series = q * (1.0f / 15.0f) + 1.0f / 13.0f;
  series = series * q + 1.0f / 11.0f;
  series = series * q + 1.0f / 9.0f;
  series = series * q + 1.0f / 7.0f;
  series = series * q + 1.0f / 5.0f;
  series = series * q + 1.0f / 3.0f;
  series = series * q + 1.0f;
  return s * 2.0f * series;
}

}  // namespace voxswap::net::onednn
