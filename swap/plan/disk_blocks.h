// The disk is accessed in whole blocks: offsets, sizes and addresses are multiples of one.
#pragma once

#include <cstdint>

namespace voxswap::swap {

constexpr std::int64_t disk_block = 4096;  // bytes

constexpr std::int64_t whole_blocks(std::int64_t bytes) {
  return (bytes + disk_block - 1) / disk_block * disk_block;
}

}  // namespace voxswap::swap
