// Windowed operations: they read a range of planes (a slab with its halo) from a volume that is stored in
// slabs.
//
// A node of `windowed_conv3d` does what `conv3d` does on a window of consecutive slabs: `planes` planes after
// the first `skip`. Its inputs are those of the inner operation without the volume, then the `slabs` slabs.
// With windows of two volumes, the slabs of the first come before those of the second. A node that reads
// exactly one slab is an ordinary node. A windowed sum returns the sum of each block
// (net/graph/block_sums.h).
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/value.h"

namespace voxswap::net {

struct Window {
  std::vector<ValueId> others;              // inputs of the inner operation without the volumes, in order
  std::vector<std::vector<ValueId>> slabs;  // slabs of each volume
  std::int64_t skip = 0, planes = 0;
};
// REQUIRES: `inner` has a windowed version, and inputs and attributes belong to a node of it.
Window window_of(const Operation& inner, const std::vector<ValueId>& inputs, const Attributes& attributes);

// Attributes of a windowed node from those of the inner one.
Attributes windowed_attributes(Attributes inner, std::int64_t slabs, std::int64_t skip, std::int64_t planes);

// A graph with only the inner node, in which each window is a whole volume.
Graph slab_graph(const Graph& graph, const Operation& inner, const std::vector<ValueId>& inputs,
                 const Attributes& attributes);

// Planes that a windowed node makes or, for a sum, iterates over.
std::int64_t planes_made(const Graph& graph, const Node& node);

// The windowed version of `inner`; null if there is none.
const Operation* find_windowed(const Operation& inner);

}  // namespace voxswap::net
