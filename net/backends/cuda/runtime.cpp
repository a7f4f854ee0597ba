#include "net/backends/cuda/runtime.h"

#include "base/error.h"
#include "base/keys.h"

namespace voxswap::net::cuda {

namespace {

thread_local cudaStream_t stream_of_this_thread = nullptr;

std::string what_helps(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return format(
          "; lower {}, use smaller volumes ({} or {}) or patches ({}), or end other programs on this GPU",
          key::memory_budget, key::preprocess_resolution, key::preprocess_spacing, key::training_patch);
    case cudaErrorInsufficientDriver:
      return format("; the driver is older than this build's CUDA: install a newer one, or use {}: cpu",
                    key::memory_device);
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      return "; `voxswap info` lists the devices";
    case cudaErrorNoKernelImageForDevice:
      return "; this build contains no code for this GPU: build with CMAKE_CUDA_ARCHITECTURES set to it";
    default:
      return "";
  }
}

}  // namespace

void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess) return;
  const Exit exit = status == cudaErrorMemoryAllocation ? Exit::does_not_fit : Exit::failed;
  fail(exit, "CUDA: {}: {} ({}){}", call, cudaGetErrorString(status), cudaGetErrorName(status),
       what_helps(status));
}

void check_launch(std::string_view kernel) {
  check(cudaGetLastError(), kernel);
}

cudaStream_t current_stream() {
  return stream_of_this_thread;
}

CurrentStream::CurrentStream(cudaStream_t stream) : before_(stream_of_this_thread) {
  stream_of_this_thread = stream;
}
CurrentStream::~CurrentStream() {
  stream_of_this_thread = before_;
}

}  // namespace voxswap::net::cuda
