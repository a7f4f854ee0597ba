// Shared use of the CUDA runtime: failed calls become this program's errors, and the stream of the running
// kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace voxswap::net::cuda {

// Throws Error with the call's name, CUDA's message and advice: Exit::does_not_fit if memory ran out, else
// Exit::failed.
void check(cudaError_t status, std::string_view call);

// Throws the error, if any, of the last kernel launch.
void check_launch(std::string_view kernel);

// The stream on which Kernel::run() enqueues. Stream::launch sets it for the calling thread.
cudaStream_t current_stream();

// Makes `stream` the current one during its lifetime.
class CurrentStream {
 public:
  explicit CurrentStream(cudaStream_t stream);
  ~CurrentStream();
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;

 private:
  cudaStream_t before_;
};

}  // namespace voxswap::net::cuda
