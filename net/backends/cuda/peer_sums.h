// What came from another rank is added to what is here.
#pragma once

#include <cstdint>

namespace voxswap::net::cuda {

void add_floats(float* to, const float* from, std::int64_t count);  // on the current stream

}  // namespace voxswap::net::cuda
