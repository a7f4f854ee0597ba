// The order in which a step's nodes are cut into pieces: its own, but that a volume nobody needs yet waits.
#pragma once

#include <functional>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// The graph's nodes so that one of which all outputs are volumes comes right before the first that reads
// them, where everything that it reads and is a volume is needed at that time or later anyhow: the half of a
// convolution that reads a skip, say, which otherwise lies beside what comes from below all the way up.
std::vector<NodeId> late_order(const Graph& graph, const std::function<bool(ValueId)>& is_volume);

}  // namespace voxswap::net
