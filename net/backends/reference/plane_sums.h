// Sums over planes by channel, for channel_sum and for the bias gradient of a convolution.
#pragma once

#include <cstdint>
#include <vector>

#include "net/backends/reference/kernels.h"
#include "net/graph/block_sums.h"

namespace voxswap::net::reference {

// The row of separate sums that a plane belongs to (net/graph/block_sums.h); without separate sums, all
// planes have one row.
class RowOfPlane {
 public:
  RowOfPlane(const Attributes& attributes, std::int64_t planes) : block_(planes) {
    if (!attributes.flag("apart")) return;
    const SumBlocks blocks = sum_blocks(attributes, planes);
    block_ = blocks.planes;
    if (!attributes.flag("nodes")) return;
    std::int64_t row = 0;
    for (const Blocks& node : tree_nodes({attributes.integer_or("first", 0), blocks.here}))
      row_of_block_.insert(row_of_block_.end(), static_cast<std::size_t>(node.count), row++);
  }
  std::int64_t operator()(std::int64_t plane) const {
    const std::int64_t block = plane / block_;
    return row_of_block_.empty() ? block : row_of_block_[static_cast<std::size_t>(block)];
  }

 private:
  std::int64_t block_;                      // planes
  std::vector<std::int64_t> row_of_block_;  // empty: one row per block
};

// Sums sample by sample and, within each, plane by plane.
void sum_channels(const Array& x, const Array& sums, const RowOfPlane& row_of);

}  // namespace voxswap::net::reference
