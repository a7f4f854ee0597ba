// A kernel's temporaries in device memory, aligned as the libraries and our kernels need.
#pragma once

#include <cstdint>

#include "net/backends/backend.h"

namespace voxswap::net::cuda {

// Offsets in a kernel's workspace, assigned when the kernel is made.
class DeviceWorkspace {
 public:
  static constexpr std::int64_t alignment = 256;
  std::int64_t book(std::int64_t bytes) {  // returns the offset
    const std::int64_t place = bytes_;
    bytes_ += (bytes + alignment - 1) / alignment * alignment;
    return place;
  }
  // A workspace is less aligned than the offsets in it, so the first offset may be shifted.
  std::int64_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + alignment; }

  template <class T>
  static T* at(const KernelArguments& arguments, std::int64_t place) {
    const auto begin = reinterpret_cast<std::uintptr_t>(arguments.workspace);
    const std::uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
    return reinterpret_cast<T*>(aligned + static_cast<std::uintptr_t>(place));
  }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace voxswap::net::cuda
