#include "net/backends/cuda/stream.h"

#include <utility>

#include "net/backends/cuda/event.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::cuda {

CudaStream::CudaStream(int ordinal) : ordinal_(ordinal) {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

// What cannot be enqueued fails the stream, as what fails on the GPU does.
template <class Work>
void CudaStream::attempt(Work work) {
  try {
    check(cudaSetDevice(ordinal_), "cudaSetDevice");
    work();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
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

}  // namespace voxswap::cuda
