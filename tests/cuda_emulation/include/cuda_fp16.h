// CUDA's half precision for the CPU (emulation.h); replaces CUDA's header of this name.
#pragma once

#include "net/backends/reference/elements.h"

struct __half {
  unsigned short bits;
};

inline float __half2float(__half x) {
  return static_cast<float>(voxswap::net::f16_to_double(x.bits));
}
inline __half __float2half_rn(float x) {
  return {voxswap::net::double_to_f16(static_cast<double>(x))};
}
