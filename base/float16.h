// float16 (IEEE 754 binary16): 5 exponent bits, 10 mantissa bits. Rounds to nearest even; values from 65520
// on become infinite; NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace voxswap {

inline std::uint16_t to_float16(float value) {
  constexpr std::uint32_t infinity = 0x7f800000u, overflows = 0x477ff000u /* 65520 */,
                          least_normal = 0x38800000u /* 2^-14 */, rebias = (127u - 15u) << 23;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > infinity) return sign | 0x7e00u;
  if (magnitude >= overflows) return sign | 0x7c00u;
  if (magnitude < least_normal) {
    // The spacing of floats between 0.5 and 1 is 2^-24, as that of float16 subnormals, so adding 0.5 rounds.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000u));
  }
  const std::uint32_t tie_to_even = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - rebias + 0xfffu + tie_to_even) >> 13));
}

inline float from_float16(std::uint16_t value) {
  constexpr std::uint32_t infinity = 0x7f800000u,
                          exponents = 0x0f800000u;  // exponents: all ones, not yet shifted
  const std::uint32_t sign = (value & 0x8000u) << 16, magnitude = (value & 0x7fffu) << 13;
  if (magnitude >= exponents) return std::bit_cast<float>(sign | infinity | magnitude);
  return std::bit_cast<float>(sign |
                              std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F));
}

// from_float16(to_float16(value)) without branches, so that loops over it are vectorised.
inline float rounded_to_float16(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t magnitude = bits & 0x7fffffff, sign = bits ^ magnitude;
  const std::int32_t subnormal =
      std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5F - 0.5F);  // as in to_float16()
  auto rounded = static_cast<std::int32_t>(  // the largest NaN would overflow a signed number
      (static_cast<std::uint32_t>(magnitude) + 0xfffu + ((magnitude >> 13) & 1)) & ~0x1fffu);
  rounded = magnitude < 0x38800000 ? subnormal : rounded;
  rounded = magnitude >= 0x477ff000 ? 0x7f800000 : rounded;
  rounded = magnitude > 0x7f800000 ? 0x7fc00000 : rounded;
  return std::bit_cast<float>(sign | rounded);
}

// bfloat16: the upper half of an f32, rounded to nearest even; NaN stays NaN.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float from_bfloat16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

}  // namespace voxswap
