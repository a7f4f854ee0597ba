// Splits the volumes of a step into slabs (slabs) along the depth. It is a pass over a finished graph with
// backward pass and optimiser, so gradients and networks need no support for slabs.
//
// A slab is an ordinary value, N,d,H,W,C, and so are its partial sums. Planner, verifier and executor only
// see smaller values. Slab boundaries follow from the shapes and one number, never from a budget or a device.
// Other boundaries change the rounding of sums (docs/explanation/slabs.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/graph/graph.h"
#include "net/steps/slab_ranges.h"

namespace voxswap::net {

// The slab size is given in planes of the largest volume of the finest resolution. Resolutions whose volumes
// all have less than 1/small_volume_part of the largest volume's bytes do not count. Slabs of other volumes
// have at most as many bytes; volumes that are no larger stay whole. A slab consists of whole blocks of
// planes (planes_of_blocks).
constexpr std::int64_t whole_volumes = -1;
constexpr std::int64_t automatic_slabs = 0;  // no slabs unless that volume exceeds large_volume_bytes
constexpr std::int64_t large_volume_bytes = std::int64_t{128} << 20;
constexpr std::int64_t small_volume_part = 4;
// Automatic slabs have usual_slab_bytes, or more to have at most usual_slabs of them. They have at most
// large_slab_elements as long as that gives at most most_slabs: the window of a node covers up to three
// slabs of each volume in a chain of convolutions, which is what limits volumes larger than the device.
constexpr std::int64_t usual_slab_bytes = std::int64_t{64} << 20, usual_slabs = 32;
constexpr std::int64_t large_slab_elements = std::int64_t{1} << 26, most_slabs = 128;

// For people: "32 of 16 planes" (slabs of the finest split volume), or "none".
std::string slabs_text(const Graph& step);

// The ranks that share each volume along its depth (net/steps/rank_slabs.h), and the index of this one.
struct SlabRanks {
  std::int64_t rank = 0, count = 1;
  bool operator==(const SlabRanks&) const = default;
};

// Planes per block of each value; a slab is a multiple of it. Two planes, four where there are more than 64,
// or as many as make usual_blocks, at most most_block_planes. So ranks can share a volume in equal parts down
// to the coarsest resolution. 0: never split.
constexpr std::int64_t usual_blocks = 64, most_block_planes = 8;
std::vector<std::int64_t> planes_of_blocks(const Graph& graph);

// Planes per slab of each value. All ranks have the same number of slabs; the last ones may have fewer planes
// or none.
std::vector<PlanesOfSlab> planes_of_slabs(const Graph& graph, std::int64_t planes_per_slab,
                                          std::int64_t ranks = 1);

// For planners (swap/planners/by_sample.h): a slab size that gives a quarter as many slabs as
// `planes_per_slab`. Nullopt if the finest volume has fewer than many_slabs.
constexpr std::int64_t many_slabs = 64;
std::optional<std::int64_t> planes_of_fewer_slabs(const Graph& graph, std::int64_t planes_per_slab);

struct CutGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> slabs;  // per value of the original graph, in order of depth
  // Where ranks share volumes: the rank of each value of `graph`. `none`: on all ranks.
  std::vector<std::int32_t> owners{};
};

// Splits `graph`. Persistent values keep their ids. Nodes are ordered so that slabs can be freed early: as
// far as possible, everything computed from a slab comes before the next slab.
// With `ranks` that share the volumes, the graph has the slabs of all; each rank goes through its own in the
// same order, so that slabs that need another rank's come last.
CutGraph cut_into_slabs(const Graph& graph, std::int64_t planes_per_slab, std::int64_t ranks = 1);

// Sets on each weight gradient the blocks of planes in which it sums (net/graph/window.h). No slab
// boundary cuts a block, whatever the slab size. So steps with and without slabs have the same results to the
// bit.
void sum_in_blocks(Graph& graph);

}  // namespace voxswap::net
