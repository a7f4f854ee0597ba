// Functions Graph -> Graph that change how a step is computed and not one bit of what it computes.
#pragma once

#include "net/graph/graph.h"

namespace voxswap::net {

// Moves every node of phase `update` to right after the last node that its parameters and gradients need,
// so that gradients of parameters live shortly. What other ranks add to a gradient takes a while: nodes that
// read an exchange come last, in the order of exchanges, so that these run beside all that is left to
// compute. REQUIRES: such a node reads only gradients.
void update_early(Graph& graph);

}  // namespace voxswap::net
