#include "net/backends/cuda/stream.h"

#include <utility>

#include "net/backends/cuda/event.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

namespace {

// While it lives the stream records. Of this thread alone, so that what others do meanwhile (copies of other
// streams, memory) is not forbidden to them.
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
  // Uploaded at once: a device that has no memory left for it says so here and not in a step.
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
    cudaGetLastError();  // so that no later call reports it
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

}  // namespace voxswap::net::cuda
