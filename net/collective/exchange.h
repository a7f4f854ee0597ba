// The kernel of operation `exchange`: partial sums of this rank go in, the sum over the batch comes out, on
// every rank the same bits, whatever their number (net/steps/batch_tree.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

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

  // Blocks that its kernels have on hand; they run one after the other, beside kernels of the plan, so that
  // nothing of the plan's memory would be theirs for long enough. REQUIRES of the second: reserved.
  void reserve(std::int64_t bytes);
  std::byte* blocks() { return blocks_.data(); }
  std::int64_t block_bytes() const { return static_cast<std::int64_t>(blocks_.size()); }

 private:
  Ranks* ranks_;
  std::vector<std::byte> blocks_;
  bool begun_ = false;
};

// The order of a graph's exchanges, for ranks to compare.
std::string order_of_exchanges(const Graph& graph);

}  // namespace voxswap::net
