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

// One per value that is used at all, and one per persistent value in any case: their places depend on nothing
// but their ids. In order of id. Values that are `kept` live to the end.
std::vector<Lifetime> lifetimes(const Graph& graph, const std::vector<ValueId>& kept);

// Whether `node` may write `output` over `input`, provided that nobody reads `input` later: the operation
// allows it, the node reads the input once, and the input is large enough, of the same element type, and no
// value that belongs to the outside (persistent values and inputs).
bool may_take_over(const Graph& graph, const Node& node, ValueId output, ValueId input);

}  // namespace voxswap
