// Copies: of many bytes on all threads; of short rows, and how many of them a thread takes at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

void copy(void* to, const void* from, std::int64_t bytes);

// In pieces that the compiler turns into single moves; rows are short where channels are cut.
VOXSWAP_INLINE void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 32 <= bytes; i += 32) __builtin_memcpy(to + i, from + i, 32);
  for (; i + 2 <= bytes; i += 2) __builtin_memcpy(to + i, from + i, 2);
}

// Rows given to a thread at once.
inline std::int64_t rows_at_once(std::int64_t bytes) {
  return std::max<std::int64_t>(1, (std::int64_t{256} << 10) / bytes);
}

}  // namespace voxswap::net::onednn
