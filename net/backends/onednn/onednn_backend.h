// The fast CPU backend: convolutions by oneDNN or our own kernels (own_convolutions.h), everything else by
// our own vectorised and threaded passes. f32, and bf16 with f32 accumulation (fast on CPUs with AMX or
// AVX512-BF16; elsewhere convolutions are computed in f32).
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_onednn_backend();

}  // namespace voxswap::net
