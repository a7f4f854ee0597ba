// Adds data received from another rank to data on this GPU.
#pragma once

#include <cstdint>

namespace voxswap::net::cuda {

void add_floats(float* to, const float* from, std::int64_t count);  // on the current stream

}  // namespace voxswap::net::cuda
