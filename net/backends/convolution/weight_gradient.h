// The gradient of a convolution with respect to its weights, by kernels of our own: the same bits for any
// number of threads, activations read as they lie, and a workspace of at most 1 MiB.
//
// Threads take units of work (weight_cut.h) as they come free; sums of units of the same channels are added
// in the order of their slabs.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/weight_cut.h"

namespace voxswap::net::convolution {

// dw of a node of inputs x, dy of that type; of f32 by minimal filtering (filtered_weights.h) where that is
// faster. REQUIRES: it can be cut; f32 or bf16.
std::unique_ptr<Kernel> make_weight_gradient(const Sizes& sizes, ElementType type, Instructions instructions);

}  // namespace voxswap::net::convolution
