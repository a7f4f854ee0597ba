// CUDA's half precision for the CPU (emulation.h); replaces CUDA's header of this name.
#pragma once

#include "base/float16.h"

struct __half {
  unsigned short bits;
};

inline float __half2float(__half x) {
  return voxswap::from_float16(x.bits);
}
inline __half __float2half_rn(float x) {
  return {voxswap::to_float16(x)};
}
