// How a weight gradient is divided among threads, by shapes only: into blocks of planes
// (net/graph/sum_blocks.h), each into parts, and into groups of channels if the sums of all channels would be
// too large.
#pragma once

#include <optional>

#include "net/backends/convolution/weight_sizes.h"
#include "net/graph/kernel_axes.h"
#include "net/graph/sum_blocks.h"
#include "net/graph/value.h"

namespace voxswap::net::convolution {

// For x[N,D,H,W,I], dy[N,D,H,W,O] and a kernel.
Sizes sizes_of(const Shape& x, const Shape& dy, const KernelAxes& axes);

// How the work is divided; nullopt if the kernel has too many taps.
struct WeightCut {
  Slab slab;
  SumBlocks blocks;
  std::int64_t parts = 1, inputs = 1, outputs = 1;  // of a block; channels of a group
  std::int64_t input_groups = 1, output_groups = 1;

  std::int64_t groups() const { return input_groups * output_groups; }
  std::int64_t units() const { return blocks.here * parts * groups(); }
  // Parts of a block are consecutive, and so are blocks of a group.
  WeightUnit unit(const Sizes& sizes, std::int64_t index) const;
};
std::optional<WeightCut> cut_weight_gradient(const Sizes& sizes, const SumBlocks& blocks);

constexpr std::int64_t most_sum_bytes = std::int64_t{1}
                                        << 20;    // of all parts' sums, where blocks have several
constexpr std::int64_t enough_weight_units = 32;  // enough for all cores
constexpr std::int64_t own_sums = 16 << 10;  // floats on the stack of a thread, where a unit needs no others

// Output channels rounded up to whole registers on any instruction set.
std::int64_t whole_lanes(std::int64_t outputs);

}  // namespace voxswap::net::convolution
