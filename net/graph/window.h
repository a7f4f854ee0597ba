// Operations on windows: an operation that reads some planes of a volume, while the volume lies in pieces.
//
// A node of `windowed_conv3d` does what one of `conv3d` does whose first input is a window of consecutive
// pieces: `planes` planes from the one behind the first `skip` on. Its inputs are those of the inner
// operation without the volume, then the `pieces` pieces. What reads one piece whole is an ordinary node.
// Where windows of two volumes are read, the pieces of the one come before those of the other. Of a sum over
// windows it gives every block's apart (net/graph/sum_blocks.h).
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

struct Window {
  std::vector<ValueId> others;               // the inner operation's inputs without the volumes, in order
  std::vector<std::vector<ValueId>> pieces;  // of each volume
  std::int64_t skip = 0, planes = 0;
};
// REQUIRES: `inner` is windowed, and the inputs and attributes are those of its operation on windows.
Window window_of(const Operation& inner, const std::vector<ValueId>& inputs, const Attributes& attributes);

// The attributes of a node on windows made of those of the inner one.
Attributes windowed_attributes(Attributes inner, std::int64_t pieces, std::int64_t skip, std::int64_t planes);

// The inner node as if its windows lay in volumes of their own: a graph of that node alone.
Graph slab_graph(const Graph& graph, const Operation& inner, const std::vector<ValueId>& inputs,
                 const Attributes& attributes);

// How many planes a node of a windowed operation makes, or goes along where it sums.
std::int64_t planes_made(const Graph& graph, const Node& node);

// The operation on windows whose inner one this is; null where there is none.
const Operation* find_windowed(const Operation& inner);

}  // namespace voxswap::net
