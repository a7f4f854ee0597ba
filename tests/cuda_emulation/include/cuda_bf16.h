// CUDA's bfloat16 for the CPU (emulation.h); replaces CUDA's header of this name.
#pragma once

#include "base/float16.h"

struct __nv_bfloat16 {
  unsigned short bits;
};

inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  return {voxswap::to_bfloat16(x)};
}
