// What one core of this processor reaches at best: products of registers in f32 and bf16, and copying memory.
#pragma once

#include <string>

namespace voxswap::bench {

struct Limits {
  double f32 = 0, bf16 = 0;  // floating point operations a second; bf16: 0 where it has no such products
  double copy = 0;           // bytes a second, those read and those written
};
Limits measure_limits();  // of processor time, on the calling thread; about a second

std::string processor_name();

}  // namespace voxswap::bench
