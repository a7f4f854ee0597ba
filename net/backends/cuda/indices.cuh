// Index arithmetic for kernels with one thread per piece of memory, whose position in the volume takes
// divisions. They are done in 32 bits if the number of pieces allows, which is several times faster than 64
// bits.
#pragma once

#include <limits>

#include "net/backends/cuda/launch.h"

namespace voxswap::net::cuda {

__device__ inline std::int64_t index_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Splits the last axis, of length `side`, off an index. The rest is the index within the other axes.
template <class Index>
__device__ std::int64_t take_axis(Index& index, Index side) {
  const Index whole = index / side, place = index - whole * side;
  index = whole;
  return static_cast<std::int64_t>(place);
}

// Calls start.operator()<Index>() with an integer type that can hold `pieces`.
template <class Start>
void for_index(std::int64_t pieces, Start start) {
  if (pieces <= std::numeric_limits<std::uint32_t>::max()) {
    start.template operator()<std::uint32_t>();
  } else {
    start.template operator()<std::uint64_t>();
  }
}

// For moving memory: the largest unit that divides `bytes`.
struct alignas(16) Bytes16 {
  std::uint64_t content[2];
};
template <class Start>
void for_piece(std::int64_t bytes, Start start) {
  if (bytes % 16 == 0) {
    start(Bytes16{});
  } else if (bytes % 8 == 0) {
    start(std::uint64_t{});
  } else if (bytes % 4 == 0) {
    start(std::uint32_t{});
  } else {
    start(std::uint16_t{});
  }
}

}  // namespace voxswap::net::cuda
