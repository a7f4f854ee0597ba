// Peak performance of one core of this processor: products in registers in f32 and bf16, and copying memory.
#pragma once

#include <string>

namespace voxswap::bench {

struct Limits {
  double f32 = 0, bf16 = 0;  // FLOP/s; bf16: 0 if the processor has no bf16 products
  double copy = 0;           // bytes per second, read and written
};
Limits measure_limits();  // in processor time, on the calling thread; takes about a second

std::string processor_name();

}  // namespace voxswap::bench
