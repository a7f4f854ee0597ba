// The kernel of operation `exchange` (all-reduce). Input: partial sums of this rank. Output: the sum over the
// batch, the same on every rank to the bit, for any number of ranks (net/steps/batch_tree.h).
#pragma once

#include <memory>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/carrier.h"
#include "net/collective/ranks.h"

namespace voxswap::net {

class Exchange {
 public:
  // `backend`: the ranks' device, if known. It must outlive this object.
  explicit Exchange(Ranks& ranks, Backend* backend = nullptr);

  // Uses direct communication between GPUs if all ranks support it. Collective: all ranks call it, before
  // anything else.
  void connect();
  // True: kernels are host code, for a host stream. False: they enqueue on the current stream.
  bool on_host() const { return carrier_->on_host(); }

  // All ranks must run exchanges in the same order.
  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node);

  // Before begin() and after pause(), kernels return only this rank's values, so that steps can be timed
  // without other ranks.
  void begin() { begun_ = true; }
  void pause() { begun_ = false; }
  bool begun() const { return begun_; }
  Ranks& ranks() { return *ranks_; }
  Backend* backend() { return backend_; }

  // Owns the rows on which its kernels work, one kernel at a time. They run concurrently with the plan's
  // kernels, so the plan's memory cannot be reused for them.
  Carrier& carrier() { return *carrier_; }

 private:
  Ranks* ranks_;
  Backend* backend_;
  std::unique_ptr<Carrier> carrier_;
  bool begun_ = false;
};

// The graph's exchanges in order, as text, for ranks to compare.
std::string order_of_exchanges(const Graph& graph);

}  // namespace voxswap::net
