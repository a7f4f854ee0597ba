// Graph passes that change how a step is computed, but not its results, to the bit.
#pragma once

#include "net/graph/graph.h"

namespace voxswap::net {

// Moves each node of phase `update` to just after the last node that makes or reads its parameters and
// gradients. So gradients of parameters have short lifetimes. Updates that read an exchange come last, in the
// order of exchanges, so that communication overlaps with the remaining computation. REQUIRES: an update
// reads only gradients.
void update_early(Graph& graph);

}  // namespace voxswap::net
