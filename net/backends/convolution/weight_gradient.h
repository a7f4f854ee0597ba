// The gradient of a convolution with respect to its weights, by kernels of our own: the same bits for any
// number of threads, activations read as they lie, and a workspace of at most 1 MiB.
//
// Work is cut by shapes alone into units: slabs of the volume, and where those of all channels would be too
// many sums, groups of channels. Threads take units as they come free; sums of units of the same channels are
// added in the order of their slabs.
#pragma once

#include <memory>
#include <optional>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/weight_sizes.h"
#include "net/graph/kernel_axes.h"

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

// dw of a node of inputs x, dy of that type. REQUIRES: it can be cut; f32 or bf16.
std::unique_ptr<Kernel> make_weight_gradient(const Sizes& sizes, ElementType type, Instructions instructions);

}  // namespace voxswap::net::convolution
