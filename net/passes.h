// Functions Graph -> Graph that change how a step is computed and not one bit of what it computes.
#pragma once

#include "net/graph.h"

namespace voxswap {

// Lets cheap forward values (Operation::cheap: norm + activation, concat, upsampling, cast) be computed again
// for the backward pass instead of being kept: every backward reader of such a value reads a copy of it made
// just before, from copies of its own cheap inputs, down to values that are kept anyway (convolution outputs,
// statistics, inputs).
void recompute_cheap_values(Graph& graph);

// Moves every node of phase `update` to right after the last node that its parameter and gradient need, so
// that gradients of parameters live shortly. REQUIRES: such a node reads only gradients.
void update_early(Graph& graph);

}  // namespace voxswap
