// Orders of a step's nodes, which change its memory and time but not its results, to the bit.
#pragma once

#include <functional>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Moves each node of phase `update` to just after the last node that makes or reads its parameters and
// gradients. So gradients of parameters have short lifetimes. Updates that read an exchange come last, in the
// order of exchanges, so that communication overlaps with the remaining computation. REQUIRES: an update
// reads only gradients.
void update_early(Graph& graph);

// Order in which the nodes of a step are split into slabs: the original order, except that volumes are made
// as late as possible. A node whose outputs are all volumes moves to just before their first reader, if
// its input volumes are needed until then anyway. An example is the part of a convolution that reads a skip
// connection: its output would otherwise be live during all of the lower levels.
std::vector<NodeId> late_order(const Graph& graph, const std::function<bool(ValueId)>& is_volume);

}  // namespace voxswap::net
