// Ids and counts are signed, so that differences and "none" can be represented; containers are indexed by
// unsigned numbers.
#pragma once

#include <cstddef>

namespace voxswap {

// REQUIRES: an integer that is not negative, or an enumerator.
template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace voxswap
