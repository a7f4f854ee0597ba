// The kernel of operation `exchange`: partial sums of this rank go in, the sum over the batch comes out, on
// every rank the same bits, whatever their number (net/steps/batch_tree.h).
#pragma once

#include <memory>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/carrier.h"
#include "net/collective/ranks.h"

namespace voxswap::net {

class Exchange {
 public:
  // `backend`: the ranks' device, as far as it is known; it outlives this.
  explicit Exchange(Ranks& ranks, Backend* backend = nullptr);

  // Where all ranks have GPUs that can, these talk to one another. All ranks call it, before anything else.
  void connect();
  // Its kernels are host code, for a stream of the host; else they enqueue on the current stream.
  bool on_host() const { return carrier_->on_host(); }

  // Its exchanges have to run in the same order on all ranks.
  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node);

  // Before, and after the second, a kernel gives what this rank has alone: steps that are only timed need no
  // others.
  void begin() { begun_ = true; }
  void pause() { begun_ = false; }
  bool begun() const { return begun_; }
  Ranks& ranks() { return *ranks_; }
  Backend* backend() { return backend_; }

  // Has the rows that its kernels work on; they run one after the other, beside kernels of the plan, so that
  // nothing of the plan's memory would be theirs for long enough.
  Carrier& carrier() { return *carrier_; }

 private:
  Ranks* ranks_;
  Backend* backend_;
  std::unique_ptr<Carrier> carrier_;
  bool begun_ = false;
};

// The order of a graph's exchanges, for ranks to compare.
std::string order_of_exchanges(const Graph& graph);

}  // namespace voxswap::net
