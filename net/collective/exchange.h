// The kernel of operation `exchange`: partial sums of this rank go in, the sum over the batch comes out, on
// every rank the same bits, whatever their number (net/steps/batch_tree.h).
#pragma once

#include <memory>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/ranks.h"

namespace voxswap::net {

class Exchange {
 public:
  explicit Exchange(Ranks& ranks) : ranks_(&ranks) {}

  // Its exchanges have to run in the same order on all ranks. It is host code: what it sums has to lie in
  // host memory.
  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node);

  // Until then a kernel gives what this rank has alone: steps that are only timed need no others.
  void begin() { begun_ = true; }
  bool begun() const { return begun_; }
  Ranks& ranks() { return *ranks_; }

 private:
  Ranks* ranks_;
  bool begun_ = false;
};

// The order of a graph's exchanges, for ranks to compare.
std::string order_of_exchanges(const Graph& graph);

}  // namespace voxswap::net
