// Gradients of convolutions slab by slab along the depth, for cases where the library's temporaries for the
// whole volume are large. For bf16 it transposes both volumes, which takes twice their size and would be the
// largest allocation in the arena.
#pragma once

#include "net/backends/onednn/kernels.h"

namespace voxswap::net::onednn {

// Number of slabs for a gradient, given the workspace for the whole: so many that temporaries shrink to about
// an eighth of what is read. 1: do not split, as with strides, or halos between slabs of a data gradient.
std::int64_t slab_count(const Graph& graph, const Node& node, std::int64_t workspace);

// Smallest number of slabs for which the library's 32-bit sizes suffice in a weight gradient.
std::int64_t fewest_slabs(const Graph& graph, const Node& node);

// Partial sums of slabs are added in order.
std::unique_ptr<Kernel> weight_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);
std::unique_ptr<Kernel> data_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);

}  // namespace voxswap::net::onednn
