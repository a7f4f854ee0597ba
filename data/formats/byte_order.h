// Numbers in the byte order of other machines.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

namespace voxswap::data {

template <class T>
T swap_bytes(T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace voxswap::data
