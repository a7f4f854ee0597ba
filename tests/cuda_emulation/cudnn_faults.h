// Faults of the emulated cuDNN that tests can set: its version, or wrong results of an engine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace voxswap::emulation {

void set_cudnn_version(std::size_t version);  // initially 91900 (9.19.0)
// This engine multiplies the second half of its results by eight. 0 (initially): no engine is wrong.
void set_wrong_engine(std::int64_t index);

}  // namespace voxswap::emulation
