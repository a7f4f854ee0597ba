// Relates the values and nodes of graphs that were split from the same step (Origin in net/graph/value.h).
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// VolumeNumbers (of values) and operations (of nodes), numbered consecutively. Equal numbers mean the same
// name and sample, whatever the slab.
struct VolumeNumbers {
  std::vector<std::int32_t> values, nodes;  // per id
};
VolumeNumbers number_volumes(const Graph& graph);
// For graphs that are the same step in different slabs; numbers are common to both.
std::pair<VolumeNumbers, VolumeNumbers> number_volumes(const Graph& a, const Graph& b);

// Per id in a step of several samples: the value or node of the step of one sample that does the same; none
// for sums over samples and the like.
struct Counterparts {
  std::vector<ValueId> values;
  std::vector<NodeId> nodes;
};
Counterparts counterparts(const Graph& all, const Graph& one);

}  // namespace voxswap::net
