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
struct PlanesOfSlab {
  std::int64_t slab = 0, rank = 0;
};

class SlabRanges {
 public:
  SlabRanges(const Graph& graph, std::vector<PlanesOfSlab> planes, std::int64_t ranks)
      : graph_(graph), planes_(std::move(planes)), ranks_(ranks) {}

  std::int64_t ranks() const { return ranks_; }

  // Planes per slab of a value (the last slab may have fewer; 0: it stays whole), and its number of slabs.
  std::int64_t planes_of_slab(ValueId id) const { return planes_[index(id)].slab; }
  std::size_t count(ValueId id) const {
    const std::int64_t planes = planes_of_slab(id);
    if (planes == 0) return 1;
    return static_cast<std::size_t>((graph_.value(id).shape[1] + planes - 1) / planes);
  }
  Planes planes_of(ValueId id, std::size_t slab) const {
    const std::int64_t depth = graph_.value(id).shape[1], planes = planes_of_slab(id);
    if (planes == 0) return {0, depth};
    const std::int64_t from = static_cast<std::int64_t>(slab) * planes;
    return {from, std::min(from + planes, depth)};
  }

  // The rank that owns a slab (none if not shared), and all planes of the volume on that rank.
  std::int64_t owner(ValueId id, std::size_t slab) const {
    if (ranks_ == 1 || count(id) == 1) return none;
    return planes_of(id, slab).from / planes_[index(id)].rank;
  }
  Planes range_around(ValueId id, std::size_t slab) const {
    const std::int64_t depth = graph_.value(id).shape[1];
    if (owner(id, slab) == none) return {0, depth};
    const std::int64_t from = owner(id, slab) * planes_[index(id)].rank;
    return {from, std::min(from + planes_[index(id)].rank, depth)};
  }

  // Number of blocks of planes in which a node sums over `volume`: per rank, per slab and in total. Without
  // the attribute, a slab is one block.
  std::int64_t blocks_of_rank(const Node& node, ValueId volume) const {
    const PlanesOfSlab& planes = planes_[index(volume)];
    return planes.rank / node.attributes.integer_or("block", planes.slab);
  }
  std::int64_t blocks_of_slab(const Node& node, ValueId volume) const {
    const PlanesOfSlab& planes = planes_[index(volume)];
    return planes.slab / node.attributes.integer_or("block", planes.slab);
  }
  std::int64_t blocks_of(const Node& node, ValueId volume) const {
    const std::int64_t depth = graph_.value(volume).shape[1],
                       block = node.attributes.integer_or("block", planes_[index(volume)].slab);
    return (depth + block - 1) / block;
  }

 private:
  const Graph& graph_;
  std::vector<PlanesOfSlab> planes_;  // per value
  std::int64_t ranks_;
};

}  // namespace voxswap::net
