// The kernels of operation `exchange` (all-reduce) and `send_receive`, and their transport. All-reduce:
// partial sums of this rank in, the sum over the batch out, the same on every rank to the bit, for any number
// of ranks (net/steps/batch_tree.h).
//
// Ranks may share volumes (net/steps/rank_slabs.h): `slabs` neighbouring ranks have the slabs of the same
// samples. All-reduce is then among the ranks that have the same slab of different samples.
#pragma once

#include <memory>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/ranks.h"

namespace voxswap::net {

// Memory and transport for the rows of an exchange: host memory and the ranks' own transport, or memory of
// GPUs that communicate directly.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual bool on_host()
      const = 0;  // true: calls are finished when they return; false: enqueued on the current stream

  // Reserves memory for rows, at least `bytes`. Shared by all callers.
  virtual void reserve(std::int64_t bytes) = 0;
  virtual std::byte* rows() = 0;
  virtual std::int64_t bytes() const = 0;

  // Copy from the plan's memory to a row, and back. settle() waits for all such copies.
  virtual void take(void* row, const void* value, std::int64_t bytes) = 0;
  virtual void give(void* value, const void* row, std::int64_t bytes) = 0;
  virtual void settle() = 0;

  // Operate on rows.
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void add(float* to, const float* from, std::int64_t count) = 0;
  virtual void add(double* to, const double* from, std::int64_t count) = 0;
  // Ranks::swap() of rows.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count) = 0;
};

// Through host memory and `ranks`. Rows of a device that does not compute in host memory are staged there.
// `backend`: null if it computes in host memory.
std::unique_ptr<Carrier> carry_through_host(Ranks& ranks, Backend* backend);

// From GPU to GPU if all ranks have one. Null if not or, after logging a message, if the GPUs cannot
// communicate. Collective: all ranks call it.
std::unique_ptr<Carrier> carry_between_devices(Ranks& ranks, Backend& backend);

class Exchange {
 public:
  // `backend`: the ranks' device, if known. It must outlive this object. REQUIRES: ranks.count() is a
  // multiple of `slabs`.
  explicit Exchange(Ranks& ranks, Backend* backend = nullptr, int slabs = 1);

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
  // This rank's group among the groups of ranks that share samples, and the number of groups.
  int replica() const { return ranks_->rank() / slabs_; }
  int replicas() const { return ranks_->count() / slabs_; }
  // The rank of another group with the same slab, and the rank of this group with another slab.
  int rank_of_replica(std::int64_t replica) const {
    return static_cast<int>(replica) * slabs_ + ranks_->rank() % slabs_;
  }
  int rank_of_slab(std::int64_t slab) const { return replica() * slabs_ + static_cast<int>(slab); }
  Backend* backend() { return backend_; }

  // Owns the rows on which its kernels work, one kernel at a time. They run concurrently with the plan's
  // kernels, so the plan's memory cannot be reused for them.
  Carrier& carrier() { return *carrier_; }

 private:
  Ranks* ranks_;
  Backend* backend_;
  int slabs_;
  std::unique_ptr<Carrier> carrier_;
  bool begun_ = false;
};

// The graph's all-reduces in order, as text, for ranks to compare.
std::string order_of_exchanges(const Graph& graph);

}  // namespace voxswap::net
