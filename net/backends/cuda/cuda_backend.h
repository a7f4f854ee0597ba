// The backend for NVIDIA's GPUs. It is in a build whose machine had the CUDA toolkit, and starts where there
// is no GPU, no driver and no cuDNN: then there are no devices, and it says why.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);  // throws Exit::does_not_fit

}  // namespace voxswap::net
