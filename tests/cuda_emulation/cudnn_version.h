// What the emulated cuDNN says that it is.
#pragma once

#include <cstddef>

namespace voxswap::emulation {

void set_cudnn_version(std::size_t version);  // 91900, for 9.19.0, at first

}  // namespace voxswap::emulation
