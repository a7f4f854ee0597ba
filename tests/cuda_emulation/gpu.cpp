#include "tests/cuda_emulation/gpu.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/cuda_emulation/gpu_memory.h"

namespace voxswap::emulation {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<cudaError_t> broken = cudaSuccess;  // what no call gets over

}  // namespace

}  // namespace voxswap::emulation

using voxswap::emulation::broken;
using voxswap::emulation::Clock;

// A thread and its queue.
struct CUstream_st {
  explicit CUstream_st(unsigned seed) : random_(seed), thread_([this] { work(); }) {}
  ~CUstream_st() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;

  void enqueue(std::function<void()> command) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(command));
    }
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> command;
      {
        std::unique_lock lock(mutex_);
        busy_ = false;
        changed_.notify_all();
        changed_.wait(lock, [&] { return ends_ || !queue_.empty(); });
        if (queue_.empty()) return;
        command = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
      }
      if (std::uniform_int_distribution<int>(0, 15)(random_) == 0)
        std::this_thread::sleep_for(
            std::chrono::microseconds(std::uniform_int_distribution<int>(0, 100)(random_)));
      try {
        if (broken == cudaSuccess) command();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "emulated GPU: %s\n", error.what());
        broken = cudaErrorLaunchFailure;
      }
    }
  }

  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;  // last: what it uses is there
};

// Records are counted; a wait is for the last one that was enqueued before it.
struct CUevent_st {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0, happened = 0;
    Clock::time_point time;

    void happen(std::uint64_t record) {
      {
        const std::lock_guard lock(mutex);
        happened = record;
        time = Clock::now();
      }
      changed.notify_all();
    }
    void wait(std::uint64_t record) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return happened >= record || broken != cudaSuccess; });
    }
  };
  std::shared_ptr<State> state = std::make_shared<State>();  // outlives the event in queues
};

namespace voxswap::emulation {

namespace {

class Gpu {
 public:
  static Gpu& get() {
    static Gpu* const gpu = new Gpu;  // as long as the program: backends may end after everything else
    return *gpu;
  }

  cudaStream_t make_stream() {
    const std::lock_guard lock(mutex_);
    return *streams_.insert(new CUstream_st(++made_)).first;
  }
  void end_stream(cudaStream_t stream) {
    {
      const std::lock_guard lock(mutex_);
      streams_.erase(stream);
    }
    stream->drain();
    delete stream;
  }
  void drain() {
    std::set<cudaStream_t> streams;
    {
      const std::lock_guard lock(mutex_);
      streams = streams_;
    }
    for (cudaStream_t stream : streams) stream->drain();
  }

  // Taking and giving back any memory waits for everything that was enqueued before.
  GpuMemory& idle_memory() {
    drain();
    return memory;
  }

  void begin_kernel() {
    std::unique_lock lock(mutex_);
    let_go_.wait(lock, [&] { return holders_ == 0; });
    ++kernels_begun;
  }
  void hold_kernels(int more) {
    {
      const std::lock_guard lock(mutex_);
      holders_ += more;
    }
    let_go_.notify_all();
  }

  GpuMemory memory;
  std::atomic<std::int64_t> unpinned_copies = 0, kernels_begun = 0, bytes_copied = 0;

 private:
  std::mutex mutex_;
  std::condition_variable let_go_;
  int holders_ = 0;
  std::set<cudaStream_t> streams_;
  unsigned made_ = 0;
};

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t told(cudaError_t status) {
  if (status == cudaSuccess) status = broken;
  if (status != cudaSuccess) last_error = status;
  return status;
}

CUresult stream_wait_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  auto* const flag = reinterpret_cast<std::atomic<std::uint32_t>*>(address);
  stream->enqueue([=] {
    while (static_cast<std::int32_t>(flag->load(std::memory_order_acquire) - value) < 0 &&
           broken == cudaSuccess)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
  return CUDA_SUCCESS;
}

}  // namespace

void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) return work();
  stream->enqueue([work = std::move(work)] {
    Gpu::get().begin_kernel();
    work();
  });
}

KernelsHeld::KernelsHeld() {
  Gpu::get().hold_kernels(1);
}
KernelsHeld::~KernelsHeld() {
  Gpu::get().hold_kernels(-1);
}

std::int64_t kernels_begun() {
  return Gpu::get().kernels_begun;
}
std::int64_t bytes_copied() {
  return Gpu::get().bytes_copied;
}

std::int64_t unpinned_copies() {
  return Gpu::get().unpinned_copies;
}

void scribble(void* begin, std::int64_t bytes) {
  std::memset(begin, 0xff, static_cast<std::size_t>(bytes));
}

bool in_device_memory(const void* begin, std::int64_t bytes) {
  Place place = Place::unpinned;
  return Gpu::get().memory.find(begin, static_cast<std::size_t>(bytes), place) && place == Place::device;
}

}  // namespace voxswap::emulation

using voxswap::emulation::Gpu;
using voxswap::emulation::Place;
using voxswap::emulation::told;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "an error";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "a device cannot run so many threads or blocks" : "failed";
}
cudaError_t cudaGetLastError() {
  return std::exchange(voxswap::emulation::last_error, cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return told(cudaErrorInvalidDevice);
  *properties = {"emulated GPU", static_cast<std::size_t>(voxswap::emulation::device_bytes), 9, 0, 132};
  return told(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  return told(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = static_cast<std::size_t>(voxswap::emulation::device_bytes);
  *free = *total - Gpu::get().memory.used();
  return told(cudaSuccess);
}
cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return told(Gpu::get().idle_memory().take_device(data, bytes));
}
cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned flags) {
  return told(flags == cudaMemAttachGlobal ? Gpu::get().idle_memory().take_device(data, bytes)
                                           : cudaErrorInvalidValue);
}
cudaError_t cudaFree(void* data) {
  return told(Gpu::get().idle_memory().give_back(data, true));
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  return told(Gpu::get().idle_memory().take_host(data, bytes));
}
cudaError_t cudaFreeHost(void* data) {
  return told(Gpu::get().idle_memory().give_back(data, false));
}
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  return told(Gpu::get().idle_memory().pin(data, bytes));
}
cudaError_t cudaHostUnregister(void* data) {
  return told(Gpu::get().idle_memory().unpin(data));
}
cudaError_t cudaHostGetDevicePointer(void** on_device, void* on_host, unsigned flags) {
  Place place = Place::unpinned;
  if (flags != 0 || !Gpu::get().memory.find(on_host, 1, place) || place != Place::pinned)
    return told(cudaErrorInvalidValue);
  *on_device = on_host;
  return told(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (bytes == 0) return told(cudaSuccess);
  Place target = Place::unpinned, source = Place::unpinned;
  if (!Gpu::get().memory.find(to, bytes, target) || !Gpu::get().memory.find(from, bytes, source))
    return told(cudaErrorInvalidValue);
  // A kernel without a stream runs where its memory is: on the host (emulated_backend.h).
  if (kind == cudaMemcpyDeviceToDevice && stream != nullptr &&
      (target != Place::device || source != Place::device))
    return told(cudaErrorInvalidValue);
  const auto copy = [=] {
    std::memcpy(to, from, bytes);
    Gpu::get().bytes_copied += static_cast<std::int64_t>(bytes);
  };
  if (stream == nullptr)
    copy();
  else
    stream->enqueue(copy);
  if (stream != nullptr && (target == Place::unpinned || source == Place::unpinned)) {
    ++Gpu::get().unpinned_copies;
    stream->drain();
  }
  return told(cudaSuccess);
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  Place place = Place::unpinned;
  if (!Gpu::get().memory.find(data, bytes, place) || place != Place::device)
    return told(cudaErrorInvalidValue);
  std::memset(data, value, bytes);
  return told(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) return told(cudaErrorInvalidValue);
  *stream = Gpu::get().make_stream();
  return told(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Gpu::get().end_stream(stream);
  return told(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->drain();
  return told(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto state = event->state;
  const std::lock_guard lock(state->mutex);
  stream->enqueue([state, record = state->recorded] { state->wait(record); });
  return told(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return told(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return told(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto state = event->state;
  const std::lock_guard lock(state->mutex);
  stream->enqueue([state, record = ++state->recorded] { state->happen(record); });
  return told(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto state = event->state;
  std::uint64_t record = 0;
  {
    const std::lock_guard lock(state->mutex);
    record = state->recorded;
  }
  state->wait(record);
  return told(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  Clock::time_point times[2];
  cudaEvent_t events[2] = {from, to};
  for (int i = 0; i < 2; ++i) {
    const std::lock_guard lock(events[i]->state->mutex);
    if (events[i]->state->recorded == 0) return told(cudaErrorInvalidValue);
    if (events[i]->state->happened != events[i]->state->recorded) return told(cudaErrorNotReady);
    times[i] = events[i]->state->time;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
  return told(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const bool known = std::string_view(name) == "cuStreamWaitValue32";
  *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  *function = known ? reinterpret_cast<void*>(voxswap::emulation::stream_wait_value) : nullptr;
  return told(cudaSuccess);
}
