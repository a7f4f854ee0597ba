// Cuts the volumes of a step into pieces along their depth: a pass over a finished graph, after the backward
// pass and the optimiser are there, so that neither gradients nor networks know of pieces.
//
// A piece is an ordinary value, N,d,H,W,C, and so are the partial sums of a volume's pieces; what plans,
// verifies and runs a step sees nothing but smaller values. Where the cuts lie follows from the shapes and
// one number alone, never from a budget or a device: with other cuts, sums are rounded otherwise
// (docs/pieces.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Planes of a piece of the largest volume of the finest resolution. Other volumes are cut into pieces of at
// most as many bytes, and stay whole where they have no more; planes come in pairs, because networks halve
// their sides.
constexpr std::int64_t whole_volumes = -1;
constexpr std::int64_t automatic_pieces = 0;  // none unless that volume is larger than large_volume_bytes
constexpr std::int64_t large_volume_bytes = std::int64_t{128} << 20;
constexpr std::int64_t usual_piece_bytes = std::int64_t{64} << 20, most_pieces = 32;

struct CutGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> pieces;  // of every value of the graph that was cut, in order of depth
};

// Persistent values keep their ids. Nodes come in an order in which pieces leave early: as far as it goes,
// all that is made of a piece comes before the next piece.
CutGraph cut_into_pieces(const Graph& graph, std::int64_t planes_per_piece);

// For people: "32 of 16 planes" at the finest resolution, that of the image; "none".
std::string pieces_text(const Graph& step);

// How many planes the pieces of every value have (the last may have fewer); 0: it stays whole.
std::vector<std::int64_t> planes_of_pieces(const Graph& graph, std::int64_t planes_per_piece);

}  // namespace voxswap::net
