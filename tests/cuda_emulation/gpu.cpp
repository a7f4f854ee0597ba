#include "tests/cuda_emulation/gpu.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/cuda_emulation/gpu_memory.h"
#include "tests/cuda_emulation/gpu_stream.h"

namespace voxswap::emulation {

std::atomic<cudaError_t> broken = cudaSuccess;

namespace {

class Gpu {
 public:
  static Gpu& get() {
    static Gpu* const gpu = new Gpu;  // never destroyed: backends may outlive statics
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

  // Allocating and freeing memory waits for all work enqueued before.
  GpuMemory& idle_memory() {
    drain();
    return memory;
  }

  void begin_kernel() {
    std::unique_lock lock(mutex_);
    let_go_.wait(lock, [&] { return holders_ == 0; });
    ++counts.kernels_begun;
  }
  void hold_kernels(int more) {
    {
      const std::lock_guard lock(mutex_);
      holders_ += more;
    }
    let_go_.notify_all();
  }

  GpuMemory memory;
  Counts counts;

 private:
  std::mutex mutex_;
  std::condition_variable let_go_;
  int holders_ = 0;
  std::set<cudaStream_t> streams_;
  unsigned made_ = 0;
};

thread_local cudaError_t last_error = cudaSuccess;

CUresult stream_wait_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  if (breaks_capture(stream) != cudaSuccess) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto* const flag = reinterpret_cast<std::atomic<std::uint32_t>*>(address);
  stream->enqueue([=] {
    while (static_cast<std::int32_t>(flag->load(std::memory_order_acquire) - value) < 0 &&
           broken == cudaSuccess)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
  return CUDA_SUCCESS;
}

}  // namespace

cudaError_t record_error(cudaError_t status) {
  if (status == cudaSuccess) status = broken;
  if (status != cudaSuccess) last_error = status;
  return status;
}

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

const Counts& counts() {
  return Gpu::get().counts;
}

void scribble(void* begin, std::int64_t bytes) {
  std::memset(begin, 0xff, static_cast<std::size_t>(bytes));
}

bool in_device_memory(const void* begin, std::int64_t bytes) {
  Place place = Place::unpinned;
  return Gpu::get().memory.find(begin, static_cast<std::size_t>(bytes), place) && place == Place::device;
}

}  // namespace voxswap::emulation

using voxswap::emulation::breaks_capture;
using voxswap::emulation::Gpu;
using voxswap::emulation::Place;
using voxswap::emulation::record_error;

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
  if (device != 0) return record_error(cudaErrorInvalidDevice);
  *properties = {"emulated GPU", static_cast<std::size_t>(voxswap::emulation::device_bytes), 9, 0, 132};
  return record_error(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  return record_error(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = static_cast<std::size_t>(voxswap::emulation::device_bytes);
  *free = *total - Gpu::get().memory.used();
  return record_error(cudaSuccess);
}
cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().take_device(data, bytes));
}
cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned flags) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(flags == cudaMemAttachGlobal ? Gpu::get().idle_memory().take_managed(data, bytes)
                                                   : cudaErrorInvalidValue);
}
cudaError_t cudaFree(void* data) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().give_back(data, true));
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().take_host(data, bytes));
}
cudaError_t cudaFreeHost(void* data) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().give_back(data, false));
}
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().pin(data, bytes));
}
cudaError_t cudaHostUnregister(void* data) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  return record_error(Gpu::get().idle_memory().unpin(data));
}
cudaError_t cudaHostGetDevicePointer(void** on_device, void* on_host, unsigned flags) {
  Place place = Place::unpinned;
  if (flags != 0 || !Gpu::get().memory.find(on_host, 1, place) || place != Place::pinned)
    return record_error(cudaErrorInvalidValue);
  *on_device = on_host;
  return record_error(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (bytes == 0) return record_error(cudaSuccess);
  Place target = Place::unpinned, source = Place::unpinned;
  if (!Gpu::get().memory.find(to, bytes, target) || !Gpu::get().memory.find(from, bytes, source))
    return record_error(cudaErrorInvalidValue);
  // A kernel without a stream runs on the host, where its memory is (emulated_backend.h).
  if (kind == cudaMemcpyDeviceToDevice && stream != nullptr &&
      (target != Place::device || source != Place::device))
    return record_error(cudaErrorInvalidValue);
  const bool waits = stream != nullptr && (target == Place::unpinned || source == Place::unpinned);
  if (waits)
    if (const cudaError_t status = breaks_capture(stream); status != cudaSuccess) return record_error(status);
  const bool crosses = (target == Place::device) != (source == Place::device);
  const bool back = source == Place::device && target != Place::device;
  const auto copy = [=] {
    std::memcpy(to, from, bytes);
    if (crosses) {
      ++Gpu::get().counts.copies_across;
      Gpu::get().counts.bytes_across += static_cast<std::int64_t>(bytes);
    }
    Gpu::get().counts.bytes_copied += static_cast<std::int64_t>(bytes);
    if (back) Gpu::get().counts.bytes_copied_back += static_cast<std::int64_t>(bytes);
  };
  if (stream == nullptr)
    copy();
  else
    stream->enqueue(copy);
  if (waits) {
    ++Gpu::get().counts.unpinned_copies;
    stream->drain();
  }
  return record_error(cudaSuccess);
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  if (const cudaError_t status = breaks_capture(); status != cudaSuccess) return record_error(status);
  Place place = Place::unpinned;
  if (!Gpu::get().memory.find(data, bytes, place) || place != Place::device)
    return record_error(cudaErrorInvalidValue);
  std::memset(data, value, bytes);
  return record_error(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) return record_error(cudaErrorInvalidValue);
  *stream = Gpu::get().make_stream();
  return record_error(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Gpu::get().end_stream(stream);
  return record_error(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t status = breaks_capture(stream); status != cudaSuccess) return record_error(status);
  stream->drain();
  return record_error(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t status = breaks_capture(stream, cudaErrorStreamCaptureIsolation);
      status != cudaSuccess)
    return record_error(status);
  const auto state = event->state;
  const std::lock_guard lock(state->mutex);
  stream->enqueue([state, record = state->recorded] { state->wait(record); });
  return record_error(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return record_error(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const cudaError_t status = cudaEventCreate(event);
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return status;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return record_error(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t status = breaks_capture(stream); status != cudaSuccess) return record_error(status);
  const auto state = event->state;
  const std::lock_guard lock(state->mutex);
  stream->enqueue([state, record = ++state->recorded] { state->happen(record); });
  return record_error(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(event->state->mutex);
  return event->state->happened >= event->state->recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto state = event->state;
  std::uint64_t record = 0;
  {
    const std::lock_guard lock(state->mutex);
    record = state->recorded;
  }
  state->wait(record);
  return record_error(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (!from->timed || !to->timed) return record_error(cudaErrorInvalidResourceHandle);
  voxswap::emulation::Clock::time_point times[2];
  cudaEvent_t events[2] = {from, to};
  for (int i = 0; i < 2; ++i) {
    const std::lock_guard lock(events[i]->state->mutex);
    if (events[i]->state->recorded == 0) return record_error(cudaErrorInvalidValue);
    if (events[i]->state->happened != events[i]->state->recorded) return record_error(cudaErrorNotReady);
    times[i] = events[i]->state->time;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
  return record_error(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const bool known = std::string_view(name) == "cuStreamWaitValue32";
  *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  *function = known ? reinterpret_cast<void*>(voxswap::emulation::stream_wait_value) : nullptr;
  return record_error(cudaSuccess);
}
