// Our own weight gradient kernels. Results do not depend on threads. Activations are read in place, and the
// workspace is at most 1 MiB.
//
// Threads take units of work (WeightCut) as they become free. Sums of units for the same channels are
// added in a fixed order of blocks and parts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/sizes.h"
#include "net/graph/axes.h"
#include "net/graph/block_sums.h"
#include "net/graph/value.h"

namespace voxswap::net::convolution {

// Division of a weight gradient among threads, by shapes only: into blocks of planes
// (net/graph/block_sums.h), each into parts, and into groups of channels if the sums of all channels would be
// too large.

// For x[N,D,H,W,I], dy[N,D,H,W,O] and a kernel.
Sizes sizes_of(const Shape& x, const Shape& dy, const KernelAxes& axes);

// The division of the work; nullopt if the kernel has too many taps.
struct WeightCut {
  Slab slab;
  SumBlocks blocks;
  std::int64_t parts = 1, inputs = 1, outputs = 1;  // per block; channels per group
  std::int64_t input_groups = 1, output_groups = 1;

  std::int64_t groups() const { return input_groups * output_groups; }
  std::int64_t units() const { return blocks.here * parts * groups(); }
  // Parts of a block are consecutive, and so are blocks of a group.
  WeightUnit unit(const Sizes& sizes, std::int64_t index) const;
};
std::optional<WeightCut> cut_weight_gradient(const Sizes& sizes, const SumBlocks& blocks);
// The same by minimal filtering (filtered_weights.h). Nullopt if it is not faster. It needs three taps along
// a row, no strides, and enough channels and voxels per row.
std::optional<WeightCut> cut_filtered_weights(const Sizes& sizes, const SumBlocks& blocks);

constexpr std::int64_t most_sum_bytes = std::int64_t{1}
                                        << 20;    // of all parts' sums, where blocks have several
constexpr std::int64_t enough_weight_units = 32;  // enough for all cores
constexpr std::int64_t own_sums = 16 << 10;       // floats of a unit that a thread keeps on its stack
constexpr std::int64_t most_nested = 8;           // number of such units: levels of the tree over blocks
constexpr std::int64_t enough_nested_groups = 8;  // of channels, so that one thread adds all blocks of a
                                                  // group

// Output channels rounded up to whole registers on any instruction set.
std::int64_t whole_lanes(std::int64_t outputs);

// Location of a plane of a sample of x among a kernel's inputs.
struct PlaneOfX {
  std::size_t input = 0;
  std::int64_t offset = 0;  // bytes into that input
};
std::vector<PlaneOfX> planes_of_x(const Shape& x, ElementType type, std::size_t input);  // of one volume

struct WeightGradientNode {
  Sizes sizes;
  SumBlocks blocks;
  bool apart = false;       // returns the sums of each block
  std::vector<PlaneOfX> x;  // of all samples
  std::size_t dy = 1;       // index of the input
  // If set, returns the sums of each node of the tree over blocks, the first of which is this.
  std::optional<std::int64_t> first_of_nodes{};
};
// For inputs x and dy; x is one volume.
WeightGradientNode weight_gradient_node(const Shape& x, const Shape& dy, const KernelAxes& axes,
                                        const SumBlocks& blocks, ElementType type);

// Computes dw from x and dy of this type; f32 by minimal filtering (filtered_weights.h) if that is faster.
// REQUIRES: it can be divided; f32 or bf16.
std::unique_ptr<Kernel> make_weight_gradient(WeightGradientNode node, ElementType type,
                                             Instructions instructions);

// Adds numbers [begin, end) of the rows as `total` says. Outputs may be the first rows.
void add_rows(const Total& total, std::span<const float* const> rows, std::span<float* const> outputs,
              std::int64_t begin, std::int64_t end);

}  // namespace voxswap::net::convolution
