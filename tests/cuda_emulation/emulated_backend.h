// A backend whose kernels are the CUDA backend's own, run by the emulation. Convolutions, which there are a
// library's, are the reference's.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_emulated_cuda_backend();

}  // namespace voxswap::net
