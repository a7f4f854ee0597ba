// A backend that runs the CUDA backend's own kernels by the emulation. Convolutions, for which the CUDA
// backend uses a library, are the reference's.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_emulated_cuda_backend();

}  // namespace voxswap::net
