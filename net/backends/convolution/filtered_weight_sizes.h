// Scratch per thread for a weight gradient by minimal filtering (filtered_weights.h), and limits of a unit.
// Plain data, as weight_sizes.h is.
#pragma once

#include "net/backends/convolution/filtered_sizes.h"
#include "net/backends/convolution/weight_sizes.h"

namespace voxswap::net::convolution {

constexpr std::int64_t filtered_lanes = 32;                    // output channels of a unit, at most
constexpr std::int64_t filtered_gradients = 36 << 10;          // numbers of dy of a plane of a slab
constexpr std::int64_t filtered_taps = most_taps * most_taps;  // planes and rows of them
struct FilteredWeightScratch {
  alignas(64) float x[filtered_numbers];
  alignas(64) float dy[filtered_gradients];
  alignas(64) float sums[frequencies * filtered_taps * filtered_channels * filtered_lanes];
};

}  // namespace voxswap::net::convolution
