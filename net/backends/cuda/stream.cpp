#include "net/backends/cuda/stream.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <new>
#include <utility>

#include "base/error.h"
#include "base/keys.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

namespace {

// Records the stream while it exists. Only this thread's calls are restricted, so that other threads may copy
// on other streams and allocate memory meanwhile.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  ~Capture() {
    end();
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  cudaError_t end() {
    return std::exchange(ended_, true) ? cudaSuccess : cudaStreamEndCapture(stream_, &graph_);
  }
  cudaGraph_t graph() const { return graph_; }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  bool ended_ = false;
};

class CudaGraph final : public Recording {
 public:
  // Uploads at once, so that a lack of device memory is reported here, not in a step.
  CudaGraph(cudaGraph_t graph, cudaStream_t stream) {
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    if (const cudaError_t status = cudaGraphUpload(executable_, stream); status != cudaSuccess) {
      cudaGraphExecDestroy(executable_);
      check(status, "cudaGraphUpload");
    }
  }
  ~CudaGraph() override { cudaGraphExecDestroy(executable_); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  cudaGraphExec_t executable() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

CudaStream::CudaStream(int ordinal) : ordinal_(ordinal) {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

// An error while enqueuing fails the stream, like an error on the GPU.
template <class Work>
void CudaStream::attempt(Work work) {
  try {
    check(cudaSetDevice(ordinal_), "cudaSetDevice");
    work();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
}

std::unique_ptr<Recording> CudaStream::make_recording(const std::function<void()>& enqueue) {
  if (failure_) return nullptr;
  try {
    check(cudaSetDevice(ordinal_), "cudaSetDevice");
    Capture capture(stream_);
    enqueue();
    const cudaError_t status = capture.end();
    if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
    check(status, "cudaStreamEndCapture");
    return std::make_unique<CudaGraph>(capture.graph(), stream_);
  } catch (...) {
    cudaGetLastError();  // clears the error
    throw;
  }
}

void CudaStream::replay(Recording& recording) {
  if (failure_) return;
  attempt([&] {
    check(cudaGraphLaunch(static_cast<CudaGraph&>(recording).executable(), stream_), "cudaGraphLaunch");
  });
}

void CudaStream::launch(Kernel& kernel, const KernelArguments& arguments) {
  if (failure_) return;
  attempt([&] {
    const CurrentStream current(stream_);
    kernel.run(arguments);
  });
}

void CudaStream::copy(void* to, const void* from, std::int64_t bytes) {
  if (failure_ || bytes == 0) return;
  attempt([&] {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
          "cudaMemcpyAsync");
  });
}

void CudaStream::record(Event& event) {
  attempt([&] { static_cast<CudaEvent&>(event).record_on(stream_); });
}

void CudaStream::wait(Event& event) {
  attempt([&] { static_cast<CudaEvent&>(event).wait_on(stream_); });
}

void CudaStream::synchronize() {
  const cudaError_t status = cudaStreamSynchronize(stream_);
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  check(status, "cudaStreamSynchronize");
}

namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::uint64_t of_device = std::uint64_t{1} << 63;  // marks waits for the device

using WaitValue = PFN_cuStreamWaitValue32_v11070;

WaitValue find_wait_value() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  check(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, 11070, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  if (found != cudaDriverEntryPointSuccess || function == nullptr)
    fail(Exit::failed,
         "the CUDA driver has no stream memory operations, which {} and {} need. Install a newer driver, or "
         "leave them out",
         key::memory_disk, key::memory_link);
  return reinterpret_cast<WaitValue>(function);
}

// The stream waits until *flag is at least `value`, in wrap-around order.
void wait_for_value(cudaStream_t stream, Flags::Flag* flag, std::uint32_t value) {
  static const WaitValue wait_value = find_wait_value();
  void* address = nullptr;
  check(cudaHostGetDevicePointer(&address, flag, 0), "cudaHostGetDevicePointer");
  const CUresult status =
      wait_value(stream, reinterpret_cast<CUdeviceptr>(address), value, CU_STREAM_WAIT_VALUE_GEQ);
  if (status != CUDA_SUCCESS)
    fail(Exit::failed,
         "CUDA: cuStreamWaitValue32 failed with {}. {} and {} need it: leave them out, or use another driver",
         static_cast<int>(status), key::memory_disk, key::memory_link);
}

}  // namespace

Flags::~Flags() {
  for (void* block : blocks_) cudaFreeHost(block);
}

Flags::Flag* Flags::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    void* block = nullptr;
    check(cudaSetDevice(ordinal_), "cudaSetDevice");
    check(cudaHostAlloc(&block, block_bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    blocks_.push_back(block);
    auto* flags = static_cast<Flag*>(block);
    for (std::size_t i = 0; i < block_bytes / sizeof(Flag); ++i) free_.push_back(new (flags + i) Flag);
  }
  Flag* flag = free_.back();
  free_.pop_back();
  flag->store(0);
  return flag;
}

void Flags::give_back(Flag* flag) {
  const std::lock_guard lock(mutex_);
  free_.push_back(flag);
}

CudaEvent::CudaEvent(int ordinal, std::shared_ptr<Flags> flags, bool timed)
    : ordinal_(ordinal), timed_(timed), flags_(std::move(flags)), flag_(flags_->take()) {
  try {
    add_slot();
  } catch (...) {
    flags_->give_back(flag_);
    throw;
  }
}

CudaEvent::~CudaEvent() {
  for (const Slot& slot : slots_) cudaEventDestroy(slot.event);
  flags_->give_back(flag_);
}

CudaEvent::Slot& CudaEvent::add_slot() {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  Slot slot;
  unsigned flags = cudaEventBlockingSync;  // a host stream sleeps while it waits
  if (!timed_) flags |= cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&slot.event, flags), "cudaEventCreateWithFlags");
  return slots_.emplace_back(slot);
}

std::size_t CudaEvent::unused_slot() {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].waiting == 0) return i;
  add_slot();
  return slots_.size() - 1;
}

void CudaEvent::record_on(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  last_slot_ = unused_slot();
  recorder_ = Recorder::device;
  check(cudaEventRecord(slots_[last_slot_].event, stream), "cudaEventRecord");
}

void CudaEvent::wait_on(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (recorder_ == Recorder::device)
    check(cudaStreamWaitEvent(stream, slots_[last_slot_].event, 0), "cudaStreamWaitEvent");
  else if (recorder_ == Recorder::host)
    wait_for_value(stream, flag_, static_cast<std::uint32_t>(host_generation_));
}

std::uint64_t CudaEvent::record_enqueued() {
  const std::lock_guard lock(mutex_);
  recorder_ = Recorder::host;
  return host_generation_ = HostEvent::record_enqueued();
}

std::uint64_t CudaEvent::wait_enqueued() {
  const std::lock_guard lock(mutex_);
  if (recorder_ != Recorder::device) return HostEvent::wait_enqueued();
  ++slots_[last_slot_].waiting;
  return of_device | last_slot_;
}

void CudaEvent::happen(std::uint64_t generation) {
  flag_->store(static_cast<std::uint32_t>(generation), std::memory_order_release);
  HostEvent::happen(generation);
}

void CudaEvent::wait(std::uint64_t generation) {
  if ((generation & of_device) == 0) return HostEvent::wait(generation);
  cudaEvent_t event = nullptr;
  const auto slot = static_cast<std::size_t>(generation & ~of_device);
  {
    const std::lock_guard lock(mutex_);
    event = slots_[slot].event;
  }
  cudaSetDevice(ordinal_);
  const cudaError_t status = cudaEventSynchronize(event);
  {
    const std::lock_guard lock(mutex_);
    --slots_[slot].waiting;
  }
  check(status, "cudaEventSynchronize");
}

bool CudaEvent::of_host() const {
  const std::lock_guard lock(mutex_);
  return recorder_ == Recorder::host;
}

cudaEvent_t CudaEvent::device_event() const {
  const std::lock_guard lock(mutex_);
  return slots_[last_slot_].event;
}

}  // namespace voxswap::net::cuda
