// A pass over a finished graph, in slabs or not: the kernel that makes a volume also computes its norm
// statistics.
#pragma once

#include <functional>

#include "net/graph/graph.h"

namespace voxswap::net {

// Whether a node of conv3d or conv3d_sum, windowed or not, should also output the moments of its planes.
using MakesMoments = std::function<bool(const Graph&, const Node&)>;

// Lets a convolution whose output feeds norm statistics output the moments of its planes too. The statistics
// are computed from these, which saves a pass over memory. Rounding differs from the separate pass, so fusing
// is part of what a step computes. It does not depend on slabs, schedule or number of threads. Values keep
// their ids.
void fuse_moments(Graph& graph, const MakesMoments& makes_moments);

}  // namespace voxswap::net
