// The backend for NVIDIA GPUs. It is built if the CUDA toolkit is found. It also loads without GPU, driver or
// cuDNN; then it has no devices and reports why.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);  // throws Exit::does_not_fit

}  // namespace voxswap::net
