// Convolutions that give the moments of the planes that they make too (net/graph/fused_moments.h).
#pragma once

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

// Whether it pays: for kernels with more than one tap, which our own make, and channels in sixteens. By the
// graph alone, so that a step is the same whatever computes its convolutions.
bool makes_moments(const Graph& graph, const Node& node);

// A node of a conv3d or conv3d_sum as it is without the attribute moments: a graph of that node alone.
Graph without_moments(const Graph& graph, const Node& node);

// Of a conv3d or conv3d_sum with the attribute moments; `plain` makes the convolution alone. Our own kernels'
// planes are summed as they are made, those of the library in a pass behind it.
std::unique_ptr<Kernel> make_with_moments(const Graph& graph, const Node& node,
                                          std::unique_ptr<Kernel> plain);

}  // namespace voxswap::net::onednn
