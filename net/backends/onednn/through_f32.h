// Runs a bf16 node with its f32 kernel where the CPU has no bf16 instructions.
#pragma once

#include "net/backends/onednn/kernels.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

bool goes_through_f32(ElementType type);
std::unique_ptr<Kernel> through_f32(const Graph& graph, const Node& node, Maker maker);

}  // namespace voxswap::net::onednn
