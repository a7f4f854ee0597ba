// An image on its way to the device: in the type in which the network reads it, in the pieces into which the
// step cuts it (net/steps/pieces.h). Images and targets are whole volumes, sample after sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// A piece of a volume that a step reads: from this plane on.
struct InputPiece {
  net::Value value;
  std::int64_t first_plane = 0, depth = 0;  // depth: of the whole volume
  std::int64_t turn = 0, turns = 1;  // which of the volumes that lie one after the other, and of how many
  net::ValueId id = net::none;
  bool streams = false;  // read by copies during the step (swap/plan/plan.h)
};
// `turns`: of so many volumes, one after the other, all cut alike.
std::vector<InputPiece> input_pieces(const net::Graph& graph, const swap::Plan& plan,
                                     const std::vector<net::ValueId>& pieces, std::int64_t turns = 1);

// Where the piece lies in the volume's own bytes, if those are what the network reads; null if they are not.
const std::byte* found_in(std::span<const float> image, const InputPiece& piece);
const std::byte* found_in(std::span<const std::uint8_t> target, const InputPiece& piece);
// Writes value.bytes() bytes. REQUIRES: volumes of the shape that the pieces are of.
void stage(std::span<const float> image, const InputPiece& piece, std::byte* to);
void stage(std::span<const std::uint8_t> target, const InputPiece& piece, std::byte* to);

}  // namespace voxswap::pipeline
