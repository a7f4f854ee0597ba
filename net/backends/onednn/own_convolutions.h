// Which convolutions use our own kernels (net/backends/convolution) instead of oneDNN.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

bool has_own_convolutions(ElementType type);

// Null if oneDNN is to compute it.
std::unique_ptr<Kernel> own_convolution(const Graph& graph, const Node& node);  // also onto a sum
std::unique_ptr<Kernel> own_data_gradient(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> own_weight_gradient(const Graph& graph, const Node& node);  // also on a window

}  // namespace voxswap::net::onednn
