// A GPU stream behind the backend's interface. Its recordings are CUDA graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>

#include "net/backends/device_features.h"

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

}  // namespace voxswap::net::cuda
