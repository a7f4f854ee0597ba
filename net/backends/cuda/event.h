// Events that order GPU streams and host streams, in both directions.
//
// Recorded on the GPU, it is a CUDA event, for which a host stream blocks its thread. Recorded on the host,
// it is a growing number in pinned memory. A GPU stream waits for it with the driver's stream memory
// operations, which block only that stream. A host function in the stream would also block other streams,
// because CUDA runs all host functions in one thread.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "net/backends/cpu/host_event.h"

namespace voxswap::net::cuda {

// A pool of numbers in pinned memory that both sides see.
class Flags {
 public:
  explicit Flags(int ordinal) : ordinal_(ordinal) {}
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;
  using Flag = std::atomic<std::uint32_t>;
  Flag* take();  // holds 0
  void give_back(Flag* flag);

 private:
  int ordinal_;
  std::mutex mutex_;
  std::vector<Flag*> free_;
  std::vector<void*> blocks_;
};

class CudaEvent final : public HostEvent {
 public:
  // `timed`: its time will be queried.
  CudaEvent(int ordinal, std::shared_ptr<Flags> flags, bool timed = true);
  ~CudaEvent() override;

  // For GPU streams.
  void record_on(cudaStream_t stream);
  void wait_on(cudaStream_t stream);  // does not wait for an event that was never recorded

  // For host streams.
  std::uint64_t record_enqueued() override;
  std::uint64_t wait_enqueued() override;
  void happen(std::uint64_t generation) override;
  void wait(std::uint64_t generation) override;

  bool of_host() const;              // who recorded it last
  cudaEvent_t device_event() const;  // REQUIRES: !of_host()

 private:
  // A host stream waits for one particular record. If the GPU records again meanwhile, that record uses
  // another slot.
  struct Slot {
    cudaEvent_t event = nullptr;
    int waiting = 0;
  };
  enum class Recorder { nobody, device, host };
  Slot& add_slot();
  std::size_t unused_slot();

  int ordinal_;
  bool timed_;
  std::shared_ptr<Flags> flags_;
  Flags::Flag* flag_;
  mutable std::mutex mutex_;
  std::deque<Slot> slots_;
  std::size_t last_slot_ = 0;
  Recorder recorder_ = Recorder::nobody;
  std::uint64_t host_generation_ = 0;
};

}  // namespace voxswap::net::cuda
