// Which volumes of a step are cut, and into pieces of how many planes (net/steps/pieces.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Planes of a piece of the largest volume of the finest resolution, which is that of the image unless its
// volumes have less than a small_volume_part-th of what the largest has. Other volumes are cut into pieces of
// at most as many bytes, and stay whole where they have no more. Pieces have whole blocks of planes
// (planes_of_blocks).
constexpr std::int64_t whole_volumes = -1;
constexpr std::int64_t automatic_pieces = 0;  // none unless that volume is larger than large_volume_bytes
constexpr std::int64_t large_volume_bytes = std::int64_t{128} << 20;
constexpr std::int64_t small_volume_part = 4;
// Then pieces have usual_piece_bytes, or more so that there are at most usual_pieces, but not more than
// large_piece_elements as long as there are at most most_pieces: a node's window takes up to three pieces of
// everything in a chain of convolutions, and where volumes are larger than the device that is what is short.
constexpr std::int64_t usual_piece_bytes = std::int64_t{64} << 20, usual_pieces = 32;
constexpr std::int64_t large_piece_elements = std::int64_t{1} << 26, most_pieces = 128;

// For people: "32 of 16 planes", of the finest volume that is in pieces; "none".
std::string pieces_text(const Graph& step);

// The least that any piece of a value has: two planes of the finest resolution up to 32 planes, four up to
// 128, else eight, fewer where automatic pieces are no multiple of that, and of other volumes as many as have
// no more bytes, an even number, because networks halve their sides. 0: never cut.
std::vector<std::int64_t> planes_of_blocks(const Graph& graph);

// How many planes the pieces of every value have (the last may have fewer); 0: it stays whole.
std::vector<std::int64_t> planes_of_pieces(const Graph& graph, std::int64_t planes_per_piece);

// For planners (swap/planners/coarser.h): planes of pieces that are a quarter as many as with
// `planes_per_piece`, where the finest volume then has many_pieces or more.
constexpr std::int64_t many_pieces = 64;
std::optional<std::int64_t> planes_of_fewer_pieces(const Graph& graph, std::int64_t planes_per_piece);

}  // namespace voxswap::net
