// CUDA graphs on the emulated GPU: commands enqueued during a capture are recorded, and every launch of the
// graph enqueues them again. Operations that a capture does not allow (allocating, waiting, copies of
// unpinned memory, events from outside) invalidate it, as on a GPU. So do some operations that a GPU may
// allow but the backend does not use: all events, nested graphs, and kernels that were never launched before,
// whose code CUDA would have to load during the capture.
#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <set>

#include "tests/cuda_emulation/gpu.h"
#include "tests/cuda_emulation/gpu_stream.h"

struct CUgraph_st {
  std::vector<std::function<void()>> commands;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> commands;
};

namespace voxswap::emulation {

namespace {

thread_local cudaStream_t captured_here = nullptr;
std::atomic<std::int64_t> launches = 0;
std::atomic<int> refusals = 0;

}  // namespace

cudaError_t breaks_capture(cudaStream_t stream, cudaError_t status) {
  cudaStream_t const broken_one = stream != nullptr ? stream : captured_here;
  if (broken_one == nullptr || !broken_one->captured) return cudaSuccess;
  broken_one->capture_is_broken = true;
  return status;
}

cudaError_t load_kernel(const void* kernel, cudaStream_t stream) {
  static std::mutex mutex;
  static std::set<const void*> loaded;
  const std::lock_guard lock(mutex);
  if (stream == nullptr || loaded.contains(kernel)) return cudaSuccess;
  const cudaError_t status = breaks_capture(stream);
  if (status == cudaSuccess) loaded.insert(kernel);
  return status;
}

std::int64_t graph_launches() {
  return launches;
}

GraphsRefused::GraphsRefused() {
  ++refusals;
}
GraphsRefused::~GraphsRefused() {
  --refusals;
}

}  // namespace voxswap::emulation

using voxswap::emulation::breaks_capture;
using voxswap::emulation::captured_here;
using voxswap::emulation::record_error;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeThreadLocal) return record_error(cudaErrorInvalidValue);
  if (captured_here != nullptr || stream->captured) return record_error(cudaErrorIllegalState);
  captured_here = stream;
  stream->recorded.clear();
  stream->capture_is_broken = false;
  stream->captured = true;
  return record_error(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (captured_here != stream) return record_error(cudaErrorIllegalState);
  captured_here = nullptr;
  stream->captured = false;
  if (stream->capture_is_broken) return record_error(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{std::move(stream->recorded)};
  return record_error(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  if (flags != 0) return record_error(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{graph->commands};
  return record_error(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return record_error(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return record_error(cudaSuccess);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) {
  if (const cudaError_t status = breaks_capture(stream); status != cudaSuccess) return record_error(status);
  return record_error(voxswap::emulation::refusals > 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (const cudaError_t status = breaks_capture(stream); status != cudaSuccess) return record_error(status);
  ++voxswap::emulation::launches;
  for (const std::function<void()>& command : executable->commands) stream->enqueue(command);
  return record_error(cudaSuccess);
}
