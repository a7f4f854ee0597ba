// Splits the volumes of a step into slabs (pieces) along the depth. It is a pass over a finished graph with
// backward pass and optimiser, so gradients and networks need no support for slabs.
//
// A slab is an ordinary value, N,d,H,W,C, and so are its partial sums. Planner, verifier and executor only
// see smaller values. Slab boundaries follow from the shapes and one number, never from a budget or a device.
// Other boundaries change the rounding of sums (docs/explanation/slabs.md).
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "net/steps/piece_sizes.h"

namespace voxswap::net {

struct CutGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> pieces;  // per value of the original graph, in order of depth
};

// Splits `graph`. Persistent values keep their ids. Nodes are ordered so that slabs can be freed early: as
// far as possible, everything computed from a slab comes before the next slab.
CutGraph cut_into_pieces(const Graph& graph, std::int64_t planes_per_piece);

// Sets on each weight gradient the blocks of planes in which it sums (net/graph/sum_blocks.h). No slab
// boundary cuts a block, whatever the slab size. So steps with and without slabs have the same results to the
// bit.
void sum_in_blocks(Graph& graph);

}  // namespace voxswap::net
