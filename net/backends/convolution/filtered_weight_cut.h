// How a weight gradient by minimal filtering (filtered_weights.h) is divided among threads. It depends only
// on shapes.
#pragma once

#include <optional>

#include "net/backends/convolution/weight_cut.h"

namespace voxswap::net::convolution {

// Nullopt where it is not faster. It needs three taps along a row, no strides, and enough channels and voxels
// per row.
std::optional<WeightCut> cut_filtered_weights(const Sizes& sizes, const SumBlocks& blocks);

}  // namespace voxswap::net::convolution
