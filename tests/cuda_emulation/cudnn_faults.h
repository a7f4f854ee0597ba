// What is wrong with the emulated cuDNN: its version, or the results of an engine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace voxswap::emulation {

void set_cudnn_version(std::size_t version);  // 91900, for 9.19.0, at first
// Eight times the second half of what it should compute. 0, as at first: none does.
void set_wrong_engine(std::int64_t index);

}  // namespace voxswap::emulation
