// When each value of a graph is alive, in positions of the node list.
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph.h"

namespace voxswap {

struct Lifetime {
  ValueId value = none;
  std::int64_t bytes = 0;
  NodeId first = 0;       // producing node; 0 for inputs and persistent values
  NodeId last = 0;        // last reading node; the last node of all for persistent and kept values
  ValueId shares = none;  // written in place over this value, whose lifetime ends where this one begins
};

// One per value that is used at all. Values that are `kept` live to the end.
std::vector<Lifetime> lifetimes(const Graph& graph, const std::vector<ValueId>& kept);

}  // namespace voxswap
