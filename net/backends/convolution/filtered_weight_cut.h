// How a weight gradient by minimal filtering (filtered_weights.h) is divided: by shapes alone.
#pragma once

#include <optional>

#include "net/backends/convolution/weight_cut.h"

namespace voxswap::net::convolution {

// Nothing where it is not the faster way: three taps along a row, no strides, channels and rows that fill
// what is multiplied together.
std::optional<WeightCut> cut_filtered_weights(const Sizes& sizes, const SumBlocks& blocks);

}  // namespace voxswap::net::convolution
