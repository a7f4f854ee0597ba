// Gradients of convolutions slab by slab along the depth where the library's temporaries for the whole volume
// are large: for bf16 it transposes both volumes, which takes twice their own size and would be the largest
// thing in the arena.
#pragma once

#include "net/backends/onednn/kernels.h"

namespace voxswap::net::onednn {

// Into how many slabs a gradient is better divided, given the workspace for the whole: so many that
// temporaries come down to about an eighth of what is read. 1: leave it, as where there is a stride, or halos
// between slabs of a data gradient.
std::int64_t slab_count(const Graph& graph, const Node& node, std::int64_t workspace);

// Into how many slabs a weight gradient has to be divided so that the library can count what is in one.
std::int64_t fewest_slabs(const Graph& graph, const Node& node);

// The partial sums over slabs are added in their order.
std::unique_ptr<Kernel> weight_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);
std::unique_ptr<Kernel> data_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);

}  // namespace voxswap::net::onednn
