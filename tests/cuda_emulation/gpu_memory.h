// The memories of the emulated GPU (gpu.h): blocks of the device between guards, and what of the host is
// pinned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace voxswap::emulation {

enum class Place { device, pinned, unpinned };

struct Block {
  std::size_t bytes = 0;
  void* mapping = nullptr;  // with its guards
  std::size_t mapped = 0;
  bool counts = false;  // against the device's memory
};

// Waits for nothing: that is for the calls of the runtime to do.
class GpuMemory {
 public:
  cudaError_t take_device(void** data, std::size_t bytes);
  cudaError_t take_managed(void** data, std::size_t bytes);  // takes none of the device's until it is touched
  cudaError_t take_host(void** data, std::size_t bytes);     // pinned
  cudaError_t give_back(void* data, bool of_device);
  cudaError_t pin(void* data, std::size_t bytes);
  cudaError_t unpin(void* data);

  // Where memory lies, false where only a part of it lies there.
  bool find(const void* data, std::size_t bytes, Place& place);
  std::size_t used();  // of the device's

 private:
  using Blocks = std::map<const char*, Block>;
  cudaError_t take(void** data, std::size_t bytes, Blocks& blocks, bool counts);
  static bool touches(const Blocks& blocks, const void* data, std::size_t bytes, bool& whole);

  std::mutex mutex_;
  Blocks device_, pinned_;
  std::size_t used_ = 0;
};

}  // namespace voxswap::emulation
