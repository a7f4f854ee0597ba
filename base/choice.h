// Enumerations with names for their values, so that a value can be chosen by name.
//
// An enumeration `enum class Crop { foreground, none };` has a function with the names in the same order:
// `constexpr std::array<std::string_view, 2> names_of(Crop) { return {"foreground", "none"}; }`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace voxswap {

template <class Option>
concept Choice = requires(Option option) {
  names_of(option)[0];
};

template <Choice Option>
std::string choice_name(Option option) {
  return std::string(names_of(option)[static_cast<std::size_t>(option)]);
}

template <Choice Option>
std::vector<std::string> choice_names() {
  const auto names = names_of(Option{});
  return {names.begin(), names.end()};
}

// REQUIRES: `name` is one of choice_names().
template <Choice Option>
Option choice_of(const std::string& name) {
  const auto names = names_of(Option{});
  std::size_t at = 0;
  while (names[at] != name) ++at;
  return static_cast<Option>(at);
}

}  // namespace voxswap
