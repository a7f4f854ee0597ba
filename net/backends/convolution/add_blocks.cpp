#include "net/backends/convolution/add_blocks.h"

#include <algorithm>

namespace voxswap::net::convolution {

void add_blocks(float* to, std::int64_t begin, std::int64_t end, std::span<const SumsOfBlocks> sums) {
  constexpr std::int64_t together = 512;
  for (std::int64_t first = begin; first < end; first += together) {
    const std::int64_t some = std::min(together, end - first);
    double all[together] = {};
    for (const SumsOfBlocks& of : sums)
      for (std::int64_t block = 0; block < of.blocks; ++block) {
        const float* const from = of.first + block * of.numbers + first;
        for (std::int64_t i = 0; i < some; ++i) all[i] += from[i];
      }
    for (std::int64_t i = 0; i < some; ++i) to[first + i] = static_cast<float>(all[i]);
  }
}

}  // namespace voxswap::net::convolution
