// Ids and counts are signed, so that differences and "none" can be had; containers are indexed by what is
// not.
#pragma once

#include <cstddef>

namespace voxswap {

// REQUIRES: an integer that is not negative, or an enumerator.
template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace voxswap
