// Adds sums over blocks of planes (net/graph/sum_blocks.h).
#pragma once

#include <cstdint>
#include <span>

namespace voxswap::net::convolution {

struct SumsOfBlocks {
  const float* first;    // sums of the first block
  std::int64_t blocks;   // how many
  std::int64_t numbers;  // from one block's sums to the next
};
// to[i], begin <= i < end, is the i-th sum of all blocks, one after the other, added in double. `to` may be
// the first block's.
void add_blocks(float* to, std::int64_t begin, std::int64_t end, std::span<const SumsOfBlocks> sums);

}  // namespace voxswap::net::convolution
