// Sizes (16GiB), rates (12GB/s) and durations, to and from text. Bytes are int64, rates are bytes per second,
// times are seconds.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace voxswap {

// "16GiB" -> 17179869184. Takes B, KiB, MiB, GiB, TiB; throws Exit::usage on anything else.
std::int64_t parse_bytes(std::string_view text);
// "12GB/s" -> 1.2e10. Takes MB/s and GB/s; throws Exit::usage on anything else.
double parse_rate(std::string_view text);

std::string format_bytes(std::int64_t bytes);  // "1.50 GiB"
std::string format_seconds(double seconds);    // "850 ms", "12.3 s", "4 min 05 s", "2 h 03 min"

// Parses the whole text as a number, independent of the locale: nullopt for invalid text, trailing characters
// or overflow. Floating point also accepts "nan" and "inf".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace voxswap
