#include "tests/cuda_emulation/gpu_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/cuda_emulation/gpu.h"

namespace voxswap::emulation {

// The allocation ends as close to a guard as CUDA's alignment allows.
cudaError_t GpuMemory::take(void** data, std::size_t bytes, Blocks& blocks, bool counts) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || (counts && (bytes > device_bytes || used_ + bytes > device_bytes)))
    return cudaErrorMemoryAllocation;
  constexpr std::size_t alignment = 256;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  const std::size_t pages = (size + page - 1) / page * page, mapped = pages + 2 * page;
  void* mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return cudaErrorMemoryAllocation;
  char* const inside = static_cast<char*>(mapping) + page;
  if (mprotect(inside, pages, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapped);
    return cudaErrorMemoryAllocation;
  }
  std::memset(inside, 0xff, pages);
  char* const begin = inside + pages - size;
  blocks[begin] = {bytes, mapping, mapped, counts};
  if (counts) used_ += bytes;
  *data = begin;
  return cudaSuccess;
}
cudaError_t GpuMemory::take_device(void** data, std::size_t bytes) {
  return take(data, bytes, device_, true);
}
cudaError_t GpuMemory::take_managed(void** data, std::size_t bytes) {
  return take(data, bytes, device_, false);
}
cudaError_t GpuMemory::take_host(void** data, std::size_t bytes) {
  return take(data, bytes, pinned_, false);
}

cudaError_t GpuMemory::give_back(void* data, bool of_device) {
  if (data == nullptr) return cudaSuccess;
  const std::lock_guard lock(mutex_);
  auto& blocks = of_device ? device_ : pinned_;
  const auto found = blocks.find(static_cast<char*>(data));
  if (found == blocks.end() || found->second.mapping == nullptr) return cudaErrorInvalidValue;
  if (found->second.counts) used_ -= found->second.bytes;
  munmap(found->second.mapping, found->second.mapped);
  blocks.erase(found);
  return cudaSuccess;
}

cudaError_t GpuMemory::pin(void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (data == nullptr || bytes == 0) return cudaErrorInvalidValue;
  pinned_[static_cast<char*>(data)] = {bytes, nullptr, 0};
  return cudaSuccess;
}
cudaError_t GpuMemory::unpin(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = pinned_.find(static_cast<char*>(data));
  if (found == pinned_.end() || found->second.mapping != nullptr) return cudaErrorInvalidValue;
  pinned_.erase(found);
  return cudaSuccess;
}

bool GpuMemory::find(const void* data, std::size_t bytes, Place& place) {
  const std::lock_guard lock(mutex_);
  bool whole = true;
  place = Place::unpinned;
  if (touches(device_, data, bytes, whole)) {
    place = Place::device;
  } else if (touches(pinned_, data, bytes, whole)) {
    place = Place::pinned;
  }
  return whole;
}

std::size_t GpuMemory::used() {
  const std::lock_guard lock(mutex_);
  return used_;
}

bool GpuMemory::touches(const Blocks& blocks, const void* data, std::size_t bytes, bool& whole) {
  const char* const begin = static_cast<const char*>(data);
  auto next = blocks.upper_bound(begin + bytes - 1);
  if (next == blocks.begin()) return false;
  --next;
  const char* const end = next->first + next->second.bytes;
  if (end <= begin) return false;
  whole = next->first <= begin && begin + bytes <= end;
  return true;
}

}  // namespace voxswap::emulation
