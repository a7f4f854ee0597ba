// Functions Graph -> Graph that change how a step is computed and not one bit of what it computes.
#pragma once

#include "net/graph/graph.h"

namespace voxswap::net {

// Moves every node of phase `update` to right after the last node that its parameters and gradients need,
// so that gradients of parameters live shortly. REQUIRES: such a node reads only gradients.
void update_early(Graph& graph);

}  // namespace voxswap::net
