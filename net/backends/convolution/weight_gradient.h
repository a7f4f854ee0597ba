// The gradient of a convolution with respect to its weights, by kernels of our own: the same bits for any
// number of threads, activations read as they lie, and a workspace of at most 1 MiB.
//
// Threads take units of work (weight_cut.h) as they come free; sums of units of the same channels are added
// in the order of their blocks and slabs.
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
  bool apart = false;       // gives every block's sums
  std::vector<PlaneOfX> x;  // of all samples
  std::size_t dy = 1;       // the input
};
// Of inputs x and dy; x is one volume.
WeightGradientNode weight_gradient_node(const Shape& x, const Shape& dy, const KernelAxes& axes,
                                        const SumBlocks& blocks, ElementType type);

// dw out of x and dy of that type; of f32 by minimal filtering (filtered_weights.h) where that is faster.
// REQUIRES: it can be cut; f32 or bf16.
std::unique_ptr<Kernel> make_weight_gradient(WeightGradientNode node, ElementType type,
                                             Instructions instructions);

}  // namespace voxswap::net::convolution
