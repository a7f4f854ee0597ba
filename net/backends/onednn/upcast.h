// Runs a bf16 node with its f32 kernel on a CPU without bf16 instructions.
#pragma once

#include "net/backends/onednn/kernels.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

bool needs_upcast(ElementType type);
std::unique_ptr<Kernel> upcast(const Graph& graph, const Node& node, Maker maker);

}  // namespace voxswap::net::onednn
