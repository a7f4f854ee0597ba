// Lists in order of appearance, and means over what has a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.h"

namespace voxswap::pipeline {

// Index of the first value equal to this one, which is appended if there is none.
template <class T>
std::size_t place_in(std::vector<T>& list, const std::type_identity_t<T>& value) {
  const auto found = std::ranges::find(list, value);
  const auto place = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.push_back(value);
  return place;
}

// The different values of `of` (a member or a function) over the rows, in order of appearance.
template <class Row, class Of>
auto distinct(const std::vector<Row>& rows, const Of& of) {
  std::vector<std::decay_t<std::invoke_result_t<Of, const Row&>>> values;
  for (const Row& row : rows) place_in(values, std::invoke(of, row));
  return values;
}

// Mean of `of` over the rows for which it is a number; NaN if there are none.
template <class Rows, class Of>
double mean_of(const Rows& rows, const Of& of) {
  double sum = 0, count = 0;
  for (const auto& row : rows)
    if (const auto value = static_cast<double>(std::invoke(of, row)); !std::isnan(value))
      sum += value, ++count;
  return count > 0 ? sum / count : std::nan("");
}

template <class T>
void append(std::vector<T>& list, const std::type_identity_t<std::vector<T>>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// The names by ascending number.
inline std::vector<std::string> in_order(std::vector<std::pair<double, std::string>> numbered) {
  std::ranges::sort(numbered);
  std::vector<std::string> names;
  for (auto& [number, name] : numbered) names.push_back(std::move(name));
  return names;
}

// For display: "A, B and 4 more".
inline std::string listed(std::vector<std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return more == 0 ? join(names, ", ") : format("{} and {} more", join(names, ", "), more);
}

}  // namespace voxswap::pipeline
