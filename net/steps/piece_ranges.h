// The planes of each slab of a volume, and the rank that owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

// Planes per slab of a value (the last slab may have fewer), and per rank, where ranks share the volumes. 0:
// it stays whole, on every rank.
struct PlanesOfPiece {
  std::int64_t piece = 0, rank = 0;
};

class PieceRanges {
 public:
  PieceRanges(const Graph& graph, std::vector<PlanesOfPiece> planes, std::int64_t ranks)
      : graph_(graph), planes_(std::move(planes)), ranks_(ranks) {}

  std::int64_t ranks() const { return ranks_; }

  // Planes per slab of a value (the last slab may have fewer; 0: it stays whole), and its number of slabs.
  std::int64_t planes_of_piece(ValueId id) const { return planes_[index(id)].piece; }
  std::size_t count(ValueId id) const {
    const std::int64_t planes = planes_of_piece(id);
    if (planes == 0) return 1;
    return static_cast<std::size_t>((graph_.value(id).shape[1] + planes - 1) / planes);
  }
  Planes planes_of(ValueId id, std::size_t piece) const {
    const std::int64_t depth = graph_.value(id).shape[1], planes = planes_of_piece(id);
    if (planes == 0) return {0, depth};
    const std::int64_t from = static_cast<std::int64_t>(piece) * planes;
    return {from, std::min(from + planes, depth)};
  }

  // The rank that owns a slab (none if not shared), and all planes of the volume on that rank.
  std::int64_t owner(ValueId id, std::size_t piece) const {
    if (ranks_ == 1 || count(id) == 1) return none;
    return planes_of(id, piece).from / planes_[index(id)].rank;
  }
  Planes range_around(ValueId id, std::size_t piece) const {
    const std::int64_t depth = graph_.value(id).shape[1];
    if (owner(id, piece) == none) return {0, depth};
    const std::int64_t from = owner(id, piece) * planes_[index(id)].rank;
    return {from, std::min(from + planes_[index(id)].rank, depth)};
  }

  // Number of blocks of planes in which a node sums over `volume`: per rank, per slab and in total. Without
  // the attribute, a slab is one block.
  std::int64_t blocks_of_rank(const Node& node, ValueId volume) const {
    const PlanesOfPiece& planes = planes_[index(volume)];
    return planes.rank / node.attributes.integer_or("block", planes.piece);
  }
  std::int64_t blocks_of_piece(const Node& node, ValueId volume) const {
    const PlanesOfPiece& planes = planes_[index(volume)];
    return planes.piece / node.attributes.integer_or("block", planes.piece);
  }
  std::int64_t blocks_of(const Node& node, ValueId volume) const {
    const std::int64_t depth = graph_.value(volume).shape[1],
                       block = node.attributes.integer_or("block", planes_[index(volume)].piece);
    return (depth + block - 1) / block;
  }

 private:
  const Graph& graph_;
  std::vector<PlanesOfPiece> planes_;  // per value
  std::int64_t ranks_;
};

}  // namespace voxswap::net
