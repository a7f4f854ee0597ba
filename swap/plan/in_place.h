// Which values may be written over which: an output that takes over its input's memory needs none of its own.
#pragma once

#include "net/graph/graph.h"

namespace voxswap::swap {

// Whether `node` may write `output` over `input`, provided that nobody reads `input` later: the operation
// allows it, the node reads the input once, and the input is large enough, of the same element type, and no
// value that belongs to the outside (persistent values and inputs).
bool may_take_over(const net::Graph& graph, const net::Node& node, net::ValueId output, net::ValueId input);

}  // namespace voxswap::swap
