// Expands the graph of one sample to a rank's share of a batch. The nodes are repeated for each sample, one
// sample after the other, on the same persistent values. Results are summed along the batch's tree, with an
// exchange if other ranks have samples too (docs/explanation/ranks.md).
#pragma once

#include <vector>

#include "net/graph/graph.h"
#include "net/steps/batch_tree.h"

namespace voxswap::net {

struct SharedGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> copies;  // per value of the original graph, in order of samples
  std::vector<std::vector<ValueId>> sums;    // sums over the batch, per group of values
};

// `groups`: values to sum over the batch; values of a group are exchanged together. `together`: values whose
// sum over the batch replaces them for their readers. These readers run after all samples have reached that
// point, again one sample at a time. Persistent values keep their ids and are not updated, except in a batch
// of one. Random numbers of a sample depend on its index in the batch. REQUIRES: persistent values come
// first.
SharedGraph for_share(const Graph& one, const Share& share, const std::vector<std::vector<ValueId>>& groups,
                      const std::vector<ValueId>& together = {});

}  // namespace voxswap::net
