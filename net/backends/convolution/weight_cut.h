// How a weight gradient is divided among threads, by shapes alone: into slabs of the volume, and where sums
// of all channels would be too many, groups of channels.
#pragma once

#include <optional>

#include "net/backends/convolution/weight_sizes.h"
#include "net/graph/kernel_axes.h"
#include "net/graph/value.h"

namespace voxswap::net::convolution {

// Of x[N,D,H,W,I], dy[N,D,H,W,O] and a kernel.
Sizes sizes_of(const Shape& x, const Shape& dy, const KernelAxes& axes);

// How the work is cut; nothing where a kernel has too many taps for it.
struct WeightCut {
  Slab slab;
  std::int64_t slabs = 1;                            // of all samples
  std::int64_t blocks = 1, inputs = 1, outputs = 1;  // of slabs; channels of a group
  std::int64_t input_groups = 1, output_groups = 1;

  std::int64_t units() const { return blocks * input_groups * output_groups; }
  WeightUnit unit(const Sizes& sizes, std::int64_t index) const;  // blocks of one group follow one another
};
std::optional<WeightCut> cut_weight_gradient(const Sizes& sizes);

constexpr std::int64_t most_sum_bytes = std::int64_t{1} << 20;  // of all sums in the workspace
constexpr std::int64_t enough_weight_units = 32;                // for every core to have some
constexpr std::int64_t own_sums = 16 << 10;  // floats on the stack of a thread, where a unit needs no others

// Numbers that stand for so many output channels: whole registers of lanes on any instruction set.
std::int64_t whole_lanes(std::int64_t outputs);

}  // namespace voxswap::net::convolution
