// Adds sums over blocks of planes (net/graph/sum_blocks.h).
#pragma once

#include <cstdint>
#include <span>

namespace voxswap::net::convolution {

struct SumsOfBlocks {
  const float* first;    // sums of the first block
  std::int64_t blocks;   // number of blocks
  std::int64_t numbers;  // floats from one block's sums to the next
};
// to[i] = sum over blocks, in order, in double, for begin <= i < end. `to` may be the first block's sums.
void add_blocks(float* to, std::int64_t begin, std::int64_t end, std::span<const SumsOfBlocks> sums);

}  // namespace voxswap::net::convolution
