// The memories of the emulated GPU (gpu.h): device allocations between guards, and pinned host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace voxswap::emulation {

enum class Place { device, pinned, unpinned };

struct Block {
  std::size_t bytes = 0;
  void* mapping = nullptr;  // including guards
  std::size_t mapped = 0;
  bool counts = false;  // towards the device's memory
};

// Never waits for streams: the runtime's calls do that.
class GpuMemory {
 public:
  cudaError_t take_device(void** data, std::size_t bytes);
  cudaError_t take_managed(void** data, std::size_t bytes);  // uses no device memory until touched
  cudaError_t take_host(void** data, std::size_t bytes);     // pinned
  cudaError_t give_back(void* data, bool of_device);
  cudaError_t pin(void* data, std::size_t bytes);
  cudaError_t unpin(void* data);

  // Finds the place of a memory range; false if only a part of it belongs to an allocation.
  bool find(const void* data, std::size_t bytes, Place& place);
  std::size_t used();  // bytes of the device

 private:
  using Blocks = std::map<const char*, Block>;
  cudaError_t take(void** data, std::size_t bytes, Blocks& blocks, bool counts);
  static bool touches(const Blocks& blocks, const void* data, std::size_t bytes, bool& whole);

  std::mutex mutex_;
  Blocks device_, pinned_;
  std::size_t used_ = 0;
};

}  // namespace voxswap::emulation
