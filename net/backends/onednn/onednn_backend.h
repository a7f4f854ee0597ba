// The CPU at its own speed: convolutions by oneDNN, everything else by single passes of ours, vectorised and
// threaded. f32, and bf16 with f32 accumulation (fast where the CPU has AMX or AVX512-BF16;
// elsewhere convolutions go through f32).
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_onednn_backend();

}  // namespace voxswap::net
