// Conversions between doubles and the element types in memory.
#include "net/backends/reference/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/float16.h"

namespace voxswap::net {

namespace {

// The double as a float "rounded to odd": truncated, with the last bit set if anything was lost. Rounding
// this to a format with fewer bits gives the same result as rounding the double directly (Boldo & Melquiond
// 2008).
std::uint32_t float_bits_rounded_to_odd(double value) {
  const float nearest_float = static_cast<float>(value);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest_float);
  if (static_cast<double>(nearest_float) == value || std::isnan(value)) return bits;
  if (std::abs(static_cast<double>(nearest_float)) > std::abs(value)) --bits;
  return bits | 1;
}

template <class Element, class Convert>
void load_each(double* to, const void* from, std::int64_t count, Convert convert) {
  const auto* elements = static_cast<const Element*>(from);
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert(elements[i]);
}

template <class Element, class Convert>
void store_each(void* to, const double* from, std::int64_t count, Convert convert) {
  auto* elements = static_cast<Element*>(to);
  for (std::int64_t i = 0; i < count; ++i) elements[i] = convert(from[i]);
}

}  // namespace

double bf16_to_double(std::uint16_t bits) {
  return from_bfloat16(bits);
}

std::uint16_t double_to_bf16(double value) {
  return to_bfloat16(std::bit_cast<float>(float_bits_rounded_to_odd(value)));
}

double f16_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

std::uint16_t double_to_f16(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;  // midway between 65504, the largest, and the next
  // In units of the last place, whose exponent is at least that of the subnormals. A mantissa that rounds up
  // to 2048 carries into the exponent correctly.
  const int unit = std::max(magnitude > 0 ? std::ilogb(magnitude) - 10 : -24, -24);
  const auto mantissa = static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  return static_cast<std::uint16_t>(sign | (((unit + 24) << 10) + mantissa));
}

void load_elements(double* to, const void* from, ElementType type, std::int64_t count) {
  const auto same = [](auto element) { return static_cast<double>(element); };
  switch (type) {
    case ElementType::f64:
      return load_each<double>(to, from, count, same);
    case ElementType::f32:
      return load_each<float>(to, from, count, same);
    case ElementType::bf16:
      return load_each<std::uint16_t>(to, from, count, bf16_to_double);
    case ElementType::f16:
      return load_each<std::uint16_t>(to, from, count, f16_to_double);
    case ElementType::u8:
      return load_each<std::uint8_t>(to, from, count, same);
  }
}

void store_elements(void* to, const double* from, ElementType type, std::int64_t count) {
  const auto byte = [](double x) {
    return static_cast<std::uint8_t>(std::nearbyint(std::clamp(x, 0.0, 255.0)));
  };
  switch (type) {
    case ElementType::f64:
      return store_each<double>(to, from, count, [](double x) { return x; });
    case ElementType::f32:
      return store_each<float>(to, from, count, [](double x) { return static_cast<float>(x); });
    case ElementType::bf16:
      return store_each<std::uint16_t>(to, from, count, double_to_bf16);
    case ElementType::f16:
      return store_each<std::uint16_t>(to, from, count, double_to_f16);
    case ElementType::u8:
      return store_each<std::uint8_t>(to, from, count, byte);
  }
}

}  // namespace voxswap::net
