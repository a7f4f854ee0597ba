// Text to numbers, the same in every locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace voxswap {

// What the whole of a text is as a number of this type: nothing for what is none, has more behind it, or does
// not fit. Floating point takes "nan" and "inf" as well.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace voxswap
