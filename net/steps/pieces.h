// Cuts the volumes of a step into pieces along their depth: a pass over a finished graph, after the backward
// pass and the optimiser are there, so that neither gradients nor networks know of pieces.
//
// A piece is an ordinary value, N,d,H,W,C, and so are the partial sums of a volume's pieces; what plans,
// verifies and runs a step sees nothing but smaller values. Where the cuts lie follows from the shapes and
// one number alone, never from a budget or a device: with other cuts, sums are rounded otherwise
// (docs/explanation/slabs.md).
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "net/steps/piece_sizes.h"

namespace voxswap::net {

struct CutGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> pieces;  // of every value of the graph that was cut, in order of depth
};

// Persistent values keep their ids. Nodes come in an order in which pieces leave early: as far as it goes,
// all that is made of a piece comes before the next piece.
CutGraph cut_into_pieces(const Graph& graph, std::int64_t planes_per_piece);

// Says of every weight gradient in which blocks of planes it sums (net/graph/sum_blocks.h): those that no
// piece cuts, whatever its size. Of steps that are cut and of those that are not, which so have the same
// bits.
void sum_in_blocks(Graph& graph);

}  // namespace voxswap::net
