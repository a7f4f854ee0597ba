// From the graph of one sample to that of a rank's share of a batch: the same nodes once per sample, one
// sample after the other, on the same persistent values, and what the samples give added along the batch's
// tree, through an exchange where other ranks have samples as well (docs/explanation/ranks.md).
#pragma once

#include <vector>

#include "net/graph/graph.h"
#include "net/steps/batch_tree.h"

namespace voxswap::net {

struct SharedGraph {
  Graph graph;
  std::vector<std::vector<ValueId>> copies;  // of every value of the one sample's graph, in order of samples
  std::vector<std::vector<ValueId>> sums;    // over the batch, for each group of values
};

// Of every value in `groups` the sum over the batch is wanted; those of a group are exchanged together. Of
// those `together`, the sum stands in their place for what reads them: that comes after all samples have come
// so far, one sample after the other again.
// Persistent values keep their ids and are not updated, but in a batch of one. Random numbers of a sample
// depend on where in the batch it is. REQUIRES: persistent values come first.
SharedGraph for_share(const Graph& one, const Share& share, const std::vector<std::vector<ValueId>>& groups,
                      const std::vector<ValueId>& together = {});

}  // namespace voxswap::net
