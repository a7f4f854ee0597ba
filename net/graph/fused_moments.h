// Norm statistics made where the volume is: a pass over a finished graph, in pieces or not.
#pragma once

#include <functional>

#include "net/graph/graph.h"

namespace voxswap::net {

// Whether a node of conv3d or conv3d_sum, or of these on windows, is to give the moments of its planes.
using MakesMoments = std::function<bool(const Graph&, const Node&)>;

// A convolution whose result goes to norm statistics gives the moments of its planes too, and those are made
// of these: a pass over memory less. Sums round otherwise than in that pass, so whether it is done belongs to
// what a step computes; they are the same in pieces, under every plan and for any number of threads. Values
// keep their ids.
void fuse_moments(Graph& graph, const MakesMoments& makes_moments);

}  // namespace voxswap::net
