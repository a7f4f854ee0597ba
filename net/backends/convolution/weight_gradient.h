// Our own weight gradient kernels. Results do not depend on threads. Activations are read in place, and the
// workspace is at most 1 MiB.
//
// Threads take units of work (weight_cut.h) as they become free. Sums of units for the same channels are
// added in a fixed order of blocks and parts.
#pragma once

#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/weight_cut.h"

namespace voxswap::net::convolution {

// Where a kernel finds a plane of a sample of x.
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
  std::size_t dy = 1;       // the input
};
// For inputs x and dy; x is one volume.
WeightGradientNode weight_gradient_node(const Shape& x, const Shape& dy, const KernelAxes& axes,
                                        const SumBlocks& blocks, ElementType type);

// Computes dw from x and dy of this type; f32 by minimal filtering (filtered_weights.h) if that is faster.
// REQUIRES: it can be divided; f32 or bf16.
std::unique_ptr<Kernel> make_weight_gradient(WeightGradientNode node, ElementType type,
                                             Instructions instructions);

}  // namespace voxswap::net::convolution
