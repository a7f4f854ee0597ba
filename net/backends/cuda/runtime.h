// What every file of this backend needs of CUDA's runtime: calls whose failures become this program's errors,
// and the stream that the running kernel belongs to.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace voxswap::net::cuda {

// Throws Error with the call's name, CUDA's words and what helps: Exit::does_not_fit when memory is lacking,
// Exit::failed otherwise.
void check(cudaError_t status, std::string_view call);

// Throws what went wrong when the kernel before it was launched.
void check_launch(std::string_view kernel);

// The stream on which Kernel::run() enqueues; set by Stream::launch for the calling thread.
cudaStream_t current_stream();

// Makes `stream` the current one while it lives.
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
