// Which convolutions are computed by kernels of our own (net/backends/convolution), and not by oneDNN.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net::onednn {

bool has_own_convolutions(ElementType type);

// None where oneDNN is to do it.
std::unique_ptr<Kernel> own_convolution(const Graph& graph, const Node& node);  // also onto a sum
std::unique_ptr<Kernel> own_data_gradient(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> own_weight_gradient(const Graph& graph, const Node& node);  // also on a window

}  // namespace voxswap::net::onednn
