// Convolutions that also output the moments of their planes (net/graph/fused_moments.h).
#pragma once

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

// Whether fusing pays: for kernels with more than one tap that our own kernels compute, and channels in
// multiples of 16. Depends only on the graph, so a step is the same whichever kernels compute its
// convolutions.
bool makes_moments(const Graph& graph, const Node& node);

// The node without the attribute moments, as a graph of its own.
Graph without_moments(const Graph& graph, const Node& node);

// For a conv3d or conv3d_sum with the attribute moments; `plain` makes the convolution without them. Our own
// kernels sum planes as they make them. For the library's kernels a separate pass does.
std::unique_ptr<Kernel> make_with_moments(const Graph& graph, const Node& node,
                                          std::unique_ptr<Kernel> plain);

}  // namespace voxswap::net::onednn
