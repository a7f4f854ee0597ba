// Divides a step in slabs over ranks that share its volumes along the depth (spatial parallelism; Dryden et
// al. 2019, "Improving strong-scaling of CNN training by exploiting finer-grained parallelism").
//
// A rank runs the nodes of its own slabs. Values that are not slabs (totals, weights, updates) are computed
// on all ranks. Planes of other ranks' slabs (halos) and their partial sums arrive through nodes
// `send_receive` (net/graph/send_receive.h). Every sum has the same parts in the same order as on one rank,
// so the results are identical to the bit (docs/explanation/ranks.md).
#pragma once

#include <vector>

#include "net/graph/graph.h"
#include "net/steps/slabs.h"

namespace voxswap::net {

// The part of rank `ranks.rank` of a graph that was split for ranks.count of them. `slabs` has only its own
// slabs. Pairs of ranks run their send_receive nodes in an order that never deadlocks.
CutGraph part_of_rank(const CutGraph& whole, const SlabRanks& ranks);

// Bytes that a rank sends to others in a step, by kind.
struct SentBytes {
  std::int64_t halos = 0, sums = 0;
};
SentBytes sent_in_step(const Graph& graph);

}  // namespace voxswap::net
