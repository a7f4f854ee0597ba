// When exchanges with other ranks run on the time line of steps: concurrently with the steps that follow, one
// after the other.
#pragma once

#include <algorithm>
#include <map>

#include "base/index.h"
#include "swap/planners/graph_facts.h"

namespace voxswap::swap {

class ExchangeLane {
 public:
  explicit ExchangeLane(const GraphFacts& facts) : facts_(facts) {}

  // When a node begins for which all else is there at `ready`; steps come in their order.
  double begin(net::NodeId id, double ready) {
    const NodeFacts& node = facts_.nodes[index(id)];
    for (const net::NodeId exchange : node.awaits) ready = std::max(ready, done_[exchange]);
    if (node.exchanges) done_[id] = free_ = std::max(free_, ready) + node.exchange_seconds;
    return ready;
  }

 private:
  const GraphFacts& facts_;
  double free_ = 0;
  std::map<net::NodeId, double> done_;
};

}  // namespace voxswap::swap
