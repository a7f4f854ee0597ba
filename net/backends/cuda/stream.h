// Streams of a GPU behind the backend's interface, whose recordings are CUDA graphs, and events.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "net/backends/backend.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::net::cuda {

class CudaStream final : public Stream, public Recorder {
 public:
  explicit CudaStream(int ordinal);
  ~CudaStream() override;  // waits for everything enqueued
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void launch(Kernel& kernel, const KernelArguments& arguments) override;
  void copy(void* to, const void* from, std::int64_t bytes) override;
  void record(Event& event) override;
  void wait(Event& event) override;
  void synchronize() override;

  std::unique_ptr<Recording> make_recording(const std::function<void()>& enqueue) override;
  void replay(Recording& recording) override;

 private:
  template <class Work>
  void attempt(Work work);

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  std::exception_ptr failure_;  // thrown by the next synchronize(); until then work is skipped
};

// Events that order GPU streams and host streams, in both directions.
//
// Recorded on the GPU, it is a CUDA event, for which a host stream blocks its thread. Recorded on the host,
// it is a growing number in pinned memory. A GPU stream waits for it with the driver's stream memory
// operations, which block only that stream. A host function in the stream would also block other streams,
// because CUDA runs all host functions in one thread.

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
