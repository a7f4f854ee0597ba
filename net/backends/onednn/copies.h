// Copies: large ones on all threads, and short rows, with the number of rows per thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

void copy(void* to, const void* from, std::int64_t bytes);

// In sizes that compile to single moves, because rows are short where channels are split.
VOXSWAP_INLINE void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 32 <= bytes; i += 32) __builtin_memcpy(to + i, from + i, 32);
  for (; i + 2 <= bytes; i += 2) __builtin_memcpy(to + i, from + i, 2);
}

// Rows per thread at a time.
inline std::int64_t rows_at_once(std::int64_t bytes) {
  return std::max<std::int64_t>(1, (std::int64_t{256} << 10) / bytes);
}

}  // namespace voxswap::net::onednn
