// The memories of a GPU behind the backend's interface: its own, the host's pinned for copies at full speed,
// and managed memory, which moves by itself.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net::cuda {

std::unique_ptr<Memory> allocate_device(int ordinal, std::int64_t bytes);  // throws Exit::does_not_fit
std::unique_ptr<Memory> allocate_pinned(int ordinal, std::int64_t bytes);  // likewise
// Never more than the device has free: a GPU can hang when managed memory outgrows it.
std::unique_ptr<Memory> allocate_managed(int ordinal, std::int64_t bytes);
std::int64_t free_device_bytes(int ordinal);

}  // namespace voxswap::net::cuda
