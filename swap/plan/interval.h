// Something that needs memory from one instruction to another.
#pragma once

#include <cstdint>

namespace voxswap::swap {

constexpr std::int64_t place_alignment = 64;  // bytes: a cache line, and the widest vector register

struct Interval {
  std::int64_t bytes = 0;            // a multiple of place_alignment
  std::int32_t first = 0, last = 0;  // both included
  std::int64_t offset = 0;           // what pack() finds
};

}  // namespace voxswap::swap
