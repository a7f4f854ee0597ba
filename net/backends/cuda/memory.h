// The memory types of a GPU behind the backend's interface: device memory, pinned host memory for copies at
// full speed, and managed memory, which the driver migrates.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net::cuda {

std::unique_ptr<Memory> allocate_device(int ordinal, std::int64_t bytes);  // throws Exit::does_not_fit
std::unique_ptr<Memory> allocate_pinned(int ordinal, std::int64_t bytes);  // likewise
// Never more than the free device memory: a GPU can hang when managed memory exceeds it.
std::unique_ptr<Memory> allocate_managed(int ordinal, std::int64_t bytes);
std::int64_t free_device_bytes(int ordinal);

}  // namespace voxswap::net::cuda
