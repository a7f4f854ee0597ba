// Events that order streams of the GPU and of the host, both ways.
//
// Recorded on the GPU it is a CUDA event; a host stream waits for that by blocking its thread. Recorded on
// the host it is a number in pinned memory that grows; a stream of the GPU waits for it with the driver's
// memory operations, which hold up that stream alone (a host function in the stream would hold up its
// neighbours, because CUDA runs them all in one thread).
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

// Numbers in pinned memory that both sides see, given out and taken back.
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
  // `timed`: somebody will ask for its time.
  CudaEvent(int ordinal, std::shared_ptr<Flags> flags, bool timed = true);
  ~CudaEvent() override;

  // On a stream of the GPU.
  void record_on(cudaStream_t stream);
  void wait_on(cudaStream_t stream);  // does not wait for an event that was never recorded

  // By a host stream.
  std::uint64_t record_enqueued() override;
  std::uint64_t wait_enqueued() override;
  void happen(std::uint64_t generation) override;
  void wait(std::uint64_t generation) override;

  bool of_host() const;              // who recorded it last
  cudaEvent_t device_event() const;  // REQUIRES: !of_host()

 private:
  // A host stream that waits for a record of the GPU waits for that one, even if the GPU has been told to
  // record anew meanwhile: the next record then takes another slot.
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
