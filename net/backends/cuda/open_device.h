// Opens a GPU by index, or reports why it is not available.
#pragma once

#include <string>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net {

int cuda_device_count();
std::string why_no_cuda_device();  // empty if there is one

namespace cuda {

// Makes the device the thread's current one, without loading libraries. Throws Exit::does_not_fit with the
// reason if it is not available.
Device open_device(const BackendOptions& options);

int driver_version();                   // of CUDA, 13000 for 13.0; 0 without a driver
std::string version_text(int version);  // "13.0" of 13000

}  // namespace cuda

}  // namespace voxswap::net
