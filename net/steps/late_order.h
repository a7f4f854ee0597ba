// Order in which the nodes of a step are split into slabs: the original order, except that volumes are made
// as late as possible.
#pragma once

#include <functional>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Returns the graph's nodes. A node whose outputs are all volumes moves to just before their first reader, if
// its input volumes are needed until then anyway. An example is the part of a convolution that reads a skip
// connection: its output would otherwise be live during all of the lower levels.
std::vector<NodeId> late_order(const Graph& graph, const std::function<bool(ValueId)>& is_volume);

}  // namespace voxswap::net
